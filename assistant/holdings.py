"""Personal data in this room's tables, as described by ``journal.holdings``."""

from journal.holdings import Holding

from .models import Reply

HOLDINGS = (
    # State and usage of replies; their text is in the messages.
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
