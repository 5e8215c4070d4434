"""Admin of memories: metadata and states. Texts are opened for a logged reason."""

from .memories import (
    DisclosureAdmin,
    MemoryAdmin,
    MemoryEvidenceAdmin,
    MemoryUseAdmin,
    MemoryVersionAdmin,
    RelationAdmin,
)
from .places import PlaceAdmin, PlaceMentionAdmin, PlaceVersionAdmin
from .plans import ComparedPairAdmin, MemoryPlanAdmin, MemoryPlanItemAdmin, MemoryPlanSourceAdmin
from .proposals import FieldSignalAdmin, ProposalAdmin, ProposalEvidenceAdmin
from .webhooks import WebhookAdmin, WebhookDeliveryAdmin

__all__ = [
    "ComparedPairAdmin",
    "DisclosureAdmin",
    "FieldSignalAdmin",
    "MemoryAdmin",
    "MemoryEvidenceAdmin",
    "MemoryPlanAdmin",
    "MemoryPlanItemAdmin",
    "MemoryPlanSourceAdmin",
    "MemoryUseAdmin",
    "MemoryVersionAdmin",
    "PlaceAdmin",
    "PlaceMentionAdmin",
    "PlaceVersionAdmin",
    "ProposalAdmin",
    "ProposalEvidenceAdmin",
    "RelationAdmin",
    "WebhookAdmin",
    "WebhookDeliveryAdmin",
]
