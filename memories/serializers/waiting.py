"""Serializers of proposals, and of responses that may contain one."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from statements.models import RejectionReason
from web.json import MAX_VERSION, ExactSerializer

from ..models import Memory, Proposal
from ..records import why_it_waits
from .memories import MemoryEvidenceSerializer, MemorySerializer, PreviousSerializer
from .shown import ShownTo


class ProposedMemorySerializer(serializers.ModelSerializer[Memory]):
    """The current memory of a proposal."""

    class Meta:
        model = Memory
        fields = ["id", "content", "category", "subject", "kind", "field", "state", "version"]


class ProposalSerializer(ShownTo, serializers.ModelSerializer[Proposal]):
    """A proposal, waiting until ``expires_at``.

    ``values`` are what would change, by the names of the memory's fields; after ``expires_at`` they are gone. What a
    create would add is the text of its ``memory``. ``memory_version`` is the version that the change was meant for.
    ``reason`` says why it waits; of a change that waits for the person's review only, it is empty.
    """

    values = serializers.DictField()
    memory = ProposedMemorySerializer(allow_null=True)
    source_conversation = serializers.SerializerMethodField()
    evidence = serializers.SerializerMethodField()

    class Meta:
        model = Proposal
        fields = [
            "id",
            "kind",
            "state",
            "values",
            "memory",
            "memory_version",
            "agent",
            "written_by",
            "reason",
            "source_conversation",
            "evidence",
            "created_at",
            "expires_at",
            "decided_at",
        ]

    def to_representation(self, proposal: Proposal) -> Any:
        """Hide rejected proposals' values from principals that may not decide, and say why a new memory waits."""
        shown = super().to_representation(proposal)
        if proposal.memory is not None and proposal.kind == Proposal.Kind.CREATE:
            shown["reason"] = why_it_waits(proposal.memory.state, proposal.memory.field, shown["reason"])
        refused = proposal.state == Proposal.State.REJECTED and not self.context["principal"].may_decide
        return {**shown, "values": {}} if refused else shown

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_source_conversation(self, proposal: Proposal) -> str | None:
        """Return the source conversation."""
        return self.conversation_shown(proposal.source_conversation_id)

    @extend_schema_field(MemoryEvidenceSerializer(many=True))
    def get_evidence(self, proposal: Proposal) -> Any:
        """Return the quotes."""
        return MemoryEvidenceSerializer(proposal.evidence.all(), many=True).data if self.shows_sources else []


class OtherValuesSerializer(ExactSerializer):
    """Values that replace proposed ones.

    Of a new memory content, category and subject; of a place name and notes; of an update all but what a place has.
    """

    unknown = "No proposal changes this."

    content = serializers.CharField(required=False)
    correction = serializers.BooleanField(required=False)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    subject = serializers.CharField(max_length=200, required=False, allow_blank=True)
    topics = serializers.ListField(child=serializers.CharField(max_length=50), max_length=100, required=False)
    category = serializers.CharField(max_length=50, required=False)
    importance = serializers.IntegerField(min_value=1, max_value=5, required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    metadata = serializers.DictField(required=False)
    name = serializers.CharField(max_length=200, required=False)
    notes = serializers.CharField(max_length=500, required=False, allow_blank=True)


class ApproveProposalSerializer(ExactSerializer):
    """Optional values that replace proposed ones.

    ``version`` is the one of the memory or place that the caller saw: the change is made to that.
    """

    values = OtherValuesSerializer(required=False, allow_null=True, default=None)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)


class RejectProposalSerializer(ExactSerializer):
    """The reason: not true, or not to be kept (then the source words are withheld)."""

    reason = serializers.ChoiceField(choices=RejectionReason.choices, required=False, default=RejectionReason.NOT_TRUE)


class ChangedMemorySerializer(MemorySerializer):
    """A changed memory, or the unchanged one with the ``proposal``."""

    proposal = ProposalSerializer(required=False)

    class Meta(MemorySerializer.Meta):
        fields = [*MemorySerializer.Meta.fields, "proposal"]


class RewordedMemorySerializer(ChangedMemorySerializer):
    """A memory with its new and its previous wording."""

    previous = PreviousSerializer()

    class Meta(ChangedMemorySerializer.Meta):
        fields = [*ChangedMemorySerializer.Meta.fields, "previous"]


class RememberedSerializer(MemorySerializer):
    """The outcome of an addition, and its memory.

    ``evicted`` are the memories that made room for it; agents are not told.
    """

    outcome = serializers.ChoiceField(choices=["created", "reinforced", "proposed", "quarantined"])
    evicted = serializers.ListField(child=serializers.CharField(), required=False)

    class Meta(MemorySerializer.Meta):
        fields = ["outcome", *MemorySerializer.Meta.fields, "evicted"]


class BriefMemorySerializer(serializers.Serializer[Any]):
    """The conflicting memory."""

    id = serializers.CharField()
    content = serializers.CharField()
    category = serializers.CharField()
    subject = serializers.CharField()
    version = serializers.IntegerField()


class MemoryConflictSerializer(serializers.Serializer[Any]):
    """A conflict that prevented a change.

    ``code`` says which of these there is beside it: of ``subject_exists``, ``similar_exists``, ``external_id_exists``,
    ``field_exists`` and ``stale_proposal`` the ``memory``, where the caller may see it; of ``version_conflict`` the
    ``current`` version; of ``wrong_state`` the ``state``.
    """

    detail = serializers.CharField()
    code = serializers.CharField()
    memory = BriefMemorySerializer(required=False)
    contradicts = serializers.BooleanField(
        required=False, help_text="With similar_exists: the new words say something else than the memory, not more."
    )
    current = serializers.IntegerField(required=False, help_text="With version_conflict: the version there is now.")
    state = serializers.CharField(required=False, help_text="With wrong_state and external_id_exists.")
    proposed = serializers.DictField(required=False, help_text="With stale_proposal: what the proposal would change.")


class RememberedItemSerializer(RememberedSerializer):
    """The outcome of one item: ``index`` from 0, ``status`` of a single request."""

    index = serializers.IntegerField()
    status = serializers.ChoiceField(choices=[200, 201, 202])

    class Meta(RememberedSerializer.Meta):
        fields = ["index", "status", *[name for name in RememberedSerializer.Meta.fields if name != "evicted"]]


class RefusedItemSerializer(serializers.Serializer[Any]):
    """The error of one item, with the ``status`` of a single request.

    ``reasons`` are those by field where fields are wrong. ``memory`` is what stands in its way.
    """

    index = serializers.IntegerField()
    status = serializers.ChoiceField(choices=[400, 403, 404, 409, 422])
    detail = serializers.CharField()
    code = serializers.CharField()
    reasons = serializers.DictField(required=False)
    memory = BriefMemorySerializer(required=False)
    contradicts = serializers.BooleanField(required=False)
    state = serializers.ChoiceField(choices=Memory.State.choices, required=False)
    category = serializers.CharField(required=False)
    names = serializers.ListField(child=serializers.CharField(), required=False)
    kind = serializers.CharField(required=False)
    needed = serializers.IntegerField(required=False)


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="AddedItem",
        serializers=[RememberedItemSerializer, RefusedItemSerializer],
        resource_type_field_name=None,
        many=True,
    )
)
class _AddedItemsField(serializers.ListField):
    """The outcomes of the items."""


class RememberedManySerializer(serializers.Serializer[Any]):
    """The outcomes of the items, in order.

    ``evicted`` are the memories that made room for them; agents are not told.
    """

    results = _AddedItemsField()
    evicted = serializers.ListField(child=serializers.CharField(), required=False)
