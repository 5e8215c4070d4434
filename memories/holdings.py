"""Personal data in this room's tables, as described by ``journal.holdings``."""

from journal.holdings import ERASED_TEXT, SEARCHED, VECTOR, Holding
from retrieval.text import prepare
from statements.holdings import STATED, STATED_TERMS, VERSION_TERMS
from statements.policy import fingerprint

from .models import (
    ComparedPair,
    Disclosure,
    FieldSignal,
    Memory,
    MemoryEvidence,
    MemoryPlan,
    MemoryPlanItem,
    MemoryPlanSource,
    MemoryUse,
    MemoryVersion,
    Place,
    PlaceMention,
    PlaceVersion,
    Proposal,
    ProposalEvidence,
    Relation,
    Webhook,
    WebhookDelivery,
)

_WORDED = {"content": ERASED_TEXT, "subject": "", "topics": [], "metadata": {}}
_REVS = ("recorded_from_rev", "recorded_to_rev")


def _memory_found(memory: Memory, language: str) -> None:
    memory.fingerprint = fingerprint(memory.user_id, memory.content)
    prepare(memory.content, language, heading=memory.subject).put_on(memory)


def _version_found(version: MemoryVersion, language: str) -> None:
    prepare(version.content, language, heading=version.subject).put_on(version)


HOLDINGS = (
    Holding(
        model=Memory,
        kind="memories",
        owner="user_id",
        words={**_WORDED, **STATED, "external_id": "", "run_id": "", "actor_id": "", **VECTOR},
        terms=("id", "kind", "field", "role", "deleted_why", *STATED_TERMS),
        made={**SEARCHED, "fingerprint": ""},
        revs=("active_rev",),
        remake=_memory_found,
    ),
    Holding(
        model=MemoryVersion,
        kind="memory_versions",
        owner="user_id",
        words={**_WORDED, "reason": "", "actor_id": "", **VECTOR},
        terms=("kind", "field", *VERSION_TERMS),
        made=SEARCHED,
        revs=_REVS,
        remake=_version_found,
        refers=("actor_id",),
    ),
    Holding(
        model=MemoryEvidence,
        kind="memory_evidence",
        owner="version__user_id",
        words={"quote": ""},
    ),
    Holding(model=MemoryUse, kind="memory_uses", owner="memory__user_id"),
    Holding(model=Relation, kind="relations", owner="user_id", terms=("type",)),
    Holding(
        model=Disclosure,
        kind="disclosures",
        owner="user_id",
        words={"memories": []},
        terms=("by",),
        refers=("memories",),
    ),
    Holding(
        model=Place,
        kind="places",
        owner="user_id",
        words={"place_id": ERASED_TEXT, "name": ERASED_TEXT, "notes": ""},
        revs=("active_rev",),
    ),
    Holding(
        model=PlaceVersion,
        kind="place_versions",
        owner="place__user_id",
        words={"name": ERASED_TEXT, "notes": ""},
        terms=("written_by",),
        revs=_REVS,
    ),
    Holding(model=PlaceMention, kind="place_mentions", owner="place__user_id", revs=("rev",)),
    Holding(
        model=MemoryPlan,
        kind="memory_plans",
        owner="user_id",
        words={"looked_at": []},
        terms=("strategy", "categories", "state", "written_by"),
        revs=("applied_rev",),
        refers=("looked_at",),
    ),
    Holding(
        model=MemoryPlanItem,
        kind="memory_plan_items",
        owner="user_id",
        words={"content": "", "subject": "", "topics": []},
        terms=("kind", "category", "state", "reason"),
    ),
    Holding(model=MemoryPlanSource, kind="memory_plan_sources", owner="user_id"),
    Holding(
        model=Proposal,
        kind="proposals",
        owner="user_id",
        words={"values": {}},
        terms=("kind", "state", "written_by", "reason"),
        refers=("values",),
    ),
    Holding(
        model=ProposalEvidence,
        kind="proposal_evidence",
        owner="proposal__user_id",
        words={"quote": ""},
    ),
    # Recomputed by the next comparison.
    Holding(model=ComparedPair, owner="user_id", terms=("verdict",), restored=False),
    Holding(model=FieldSignal, owner="user_id", terms=("field",), secret=("digest",), restored=False),
    # Not imported: webhooks must be registered again, with a new secret.
    Holding(
        model=Webhook,
        kind="webhooks",
        owner="user_id",
        words={"url": ERASED_TEXT},
        revs=("reached",),
        restored=False,
    ),
    Holding(
        model=WebhookDelivery,
        kind="webhook_deliveries",
        owner="webhook__user_id",
        terms=("state", "error"),
        revs=("after", "upto"),
        restored=False,
    ),
)
