"""What this room's tables hold of a person. ``journal.holdings`` says what is meant."""

from journal.holdings import Holding

from .models import Reply

HOLDINGS = (
    # How replies went and what they cost; what was said is in the messages.
    Holding(
        model=Reply,
        kind="replies",
        owner="user_id",
        words={"memories": [], "facts": []},
        terms=("mode", "model", "council", "state", "error_code"),
        refers=("memories", "facts"),
        restored=False,
    ),
)
