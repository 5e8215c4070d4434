"""What this room's tables hold of a person, and columns that facts and memories have alike."""

from journal.holdings import VECTOR, Holding

from .models import Candidate, Doubt, Suppression

STATED = {"state_reason": ""}
"""Of a statement, besides its wording: staff's reasons are written by hand."""

STATED_TERMS = ("category", "state", "written_by")
VERSION_TERMS = ("category", "written_by", "actor_kind")

HOLDINGS = (
    # The fingerprint tells nobody what was said who doesn't hold the deployment's key: it refuses the same words.
    Holding(
        model=Suppression,
        kind="suppressions",
        owner="user_id",
        words=VECTOR,
        terms=("fingerprint", "object_id"),
        refers=("object_id",),
    ),
    Holding(
        model=Doubt,
        kind="doubts",
        owner="user_id",
        terms=("object_type", "object_id"),
        revs=("rev",),
        refers=("object_id",),
    ),
    Holding(
        model=Candidate,
        kind="candidates",
        owner="user_id",
        words={"content": "", "quote": "", "subject": ""},
        terms=("category", "field", "written_by"),
    ),
)
