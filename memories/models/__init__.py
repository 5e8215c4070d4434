"""Tables of memories, proposals, places, plans and webhooks."""

from .memory import MEMORY, Disclosure, Kind, Memory, MemoryEvidence, MemoryUse, MemoryVersion, Relation, new_memory_id
from .places import Place, PlaceMention, PlaceVersion
from .plans import ComparedPair, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from .proposals import FieldSignal, Proposal, ProposalEvidence
from .webhooks import Webhook, WebhookDelivery

__all__ = [
    "MEMORY",
    "ComparedPair",
    "Disclosure",
    "FieldSignal",
    "Kind",
    "Memory",
    "MemoryEvidence",
    "MemoryPlan",
    "MemoryPlanItem",
    "MemoryPlanSource",
    "MemoryUse",
    "MemoryVersion",
    "Place",
    "PlaceMention",
    "PlaceVersion",
    "Proposal",
    "ProposalEvidence",
    "Relation",
    "Webhook",
    "WebhookDelivery",
    "new_memory_id",
]
