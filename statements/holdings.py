"""Declarations of personal data in this room's tables, and of columns that facts and memories share."""

from journal.holdings import VECTOR, Holding

from .models import Candidate, Doubt, Suppression

STATED = {"state_reason": ""}
"""Free text of a statement besides its wording: reasons that staff type."""

STATED_TERMS = ("category", "state", "written_by")
VERSION_TERMS = ("category", "written_by", "actor_kind")

HOLDINGS = (
    # A fingerprint reveals nothing without the deployment's key, and is needed to refuse the same words again. Traces
    # are hashed with that key and the person's id, so they mean nothing in another account.
    Holding(
        model=Suppression,
        kind="suppressions",
        owner="user_id",
        words=VECTOR,
        made={"traces": ""},
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
