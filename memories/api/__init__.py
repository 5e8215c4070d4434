"""REST API of memories, proposals, places, the memory block, the document and the change feed."""

from __future__ import annotations

from django.urls import path, register_converter

from .bulk import BulkAdd, BulkDelete
from .feed import Changes
from .lists import Memories, MemoryDisclosures, MemoryRelations, Topics
from .places import PlaceDetail, PlaceMentions, PlaceRestore, Places
from .plans import Optimize, Plan, PlanApply, PlanRevert
from .proposals import ProposalApprove, ProposalDetail, ProposalReject, Proposals
from .single import (
    MemoryApprove,
    MemoryDetail,
    MemoryHistory,
    MemoryPin,
    MemoryReject,
    MemoryRestore,
    MemoryRevert,
)
from .webhooks import DeliveryResend, WebhookDeliveries, WebhookDetail, WebhookResume, WebhookRotate, Webhooks
from .whole import MemoryContext, MemoryDocument, UndoChanges


class MemoryId:
    """URL converter for ids of memories."""

    regex = "[A-Za-z0-9]{8}"

    def to_python(self, value: str) -> str:
        """Return the id unchanged."""
        return value

    def to_url(self, value: str) -> str:
        """Return the id unchanged."""
        return value


register_converter(MemoryId, "memory")

# Fixed paths before ids: no id can equal them.
urlpatterns = [
    path("memories/", Memories.as_view(), name="memories"),
    path("memories/topics/", Topics.as_view(), name="memory-topics"),
    path("memories/context/", MemoryContext.as_view(), name="memory-context"),
    path("memories/document/", MemoryDocument.as_view(), name="memory-document"),
    path("memories/bulk/", BulkAdd.as_view(), name="memory-bulk"),
    path("memories/bulk-delete/", BulkDelete.as_view(), name="memory-bulk-delete"),
    path("memories/optimize/", Optimize.as_view(), name="memory-optimize"),
    path("memories/optimize/<uuid:plan_id>/", Plan.as_view(), name="memory-plan"),
    path("memories/optimize/<uuid:plan_id>/apply/", PlanApply.as_view(), name="memory-plan-apply"),
    path("memories/optimize/<uuid:plan_id>/revert/", PlanRevert.as_view(), name="memory-plan-revert"),
    path("memories/<memory:memory_id>/", MemoryDetail.as_view(), name="memory"),
    path("memories/<memory:memory_id>/history/", MemoryHistory.as_view(), name="memory-history"),
    path("memories/<memory:memory_id>/restore/", MemoryRestore.as_view(), name="memory-restore"),
    path("memories/<memory:memory_id>/revert/", MemoryRevert.as_view(), name="memory-revert"),
    path("memories/<memory:memory_id>/pin/", MemoryPin.as_view(), name="memory-pin"),
    path("memories/<memory:memory_id>/approve/", MemoryApprove.as_view(), name="memory-approve"),
    path("memories/<memory:memory_id>/reject/", MemoryReject.as_view(), name="memory-reject"),
    path("memories/<memory:memory_id>/relations/", MemoryRelations.as_view(), name="memory-relations"),
    path("memories/<memory:memory_id>/disclosures/", MemoryDisclosures.as_view(), name="memory-disclosures"),
    path("proposals/", Proposals.as_view(), name="proposals"),
    path("proposals/<uuid:proposal_id>/", ProposalDetail.as_view(), name="proposal"),
    path("proposals/<uuid:proposal_id>/approve/", ProposalApprove.as_view(), name="proposal-approve"),
    path("proposals/<uuid:proposal_id>/reject/", ProposalReject.as_view(), name="proposal-reject"),
    path("places/", Places.as_view(), name="places"),
    path("places/<uuid:place_id>/", PlaceDetail.as_view(), name="place"),
    path("places/<uuid:place_id>/restore/", PlaceRestore.as_view(), name="place-restore"),
    path("places/<uuid:place_id>/mentions/", PlaceMentions.as_view(), name="place-mentions"),
    path("changes/", Changes.as_view(), name="changes"),
    path("changes/undo/", UndoChanges.as_view(), name="changes-undo"),
    path("webhooks/", Webhooks.as_view(), name="webhooks"),
    path("webhooks/<uuid:webhook_id>/", WebhookDetail.as_view(), name="webhook"),
    path("webhooks/<uuid:webhook_id>/rotate/", WebhookRotate.as_view(), name="webhook-rotate"),
    path("webhooks/<uuid:webhook_id>/resume/", WebhookResume.as_view(), name="webhook-resume"),
    path("webhooks/<uuid:webhook_id>/deliveries/", WebhookDeliveries.as_view(), name="webhook-deliveries"),
    path(
        "webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>/resend/",
        DeliveryResend.as_view(),
        name="webhook-resend",
    ),
]
