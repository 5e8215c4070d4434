"""Serializers of facts."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.policy import may_see_sources
from accounts.principals import Principal
from conversations.serializers import AlsoSaidSerializer
from statements.models import RejectionReason
from statements.policy.resembling import reason_shown
from web.history import ChangeSerializer
from web.json import MAX_VERSION, ExactSerializer

from .models import FactEvidence, FactVersion, LegacyFact


class EvidenceSerializer(serializers.ModelSerializer[FactEvidence]):
    """A quotation of the person that states a fact, and its source."""

    conversation = serializers.UUIDField(source="message.conversation_id")
    index = serializers.IntegerField(source="message.index")
    at = serializers.DateTimeField(source="message.at")

    class Meta:
        model = FactEvidence
        fields = ["quote", "conversation", "index", "at"]


class LinkSerializer(serializers.Serializer[Any]):
    """Another fact that duplicates or contradicts this one."""

    kind = serializers.CharField()
    fact = serializers.UUIDField()
    content = serializers.CharField()
    mine = serializers.BooleanField()
    strength = serializers.FloatField()


class FactSerializer(serializers.ModelSerializer[LegacyFact]):
    """A fact as the principal in the context sees it.

    ``quote``, ``source_conversation``, ``source_index`` and ``evidence`` refer to the author's own conversations: other
    members, and agents that may not read turns, get null and an empty list. ``written_by`` names the model, rules or
    agent that worded it; it is empty for the author's own words.
    """

    legacy = serializers.UUIDField(source="legacy_id")
    mine = serializers.SerializerMethodField()
    author = serializers.CharField(source="user.get_full_name")
    quote = serializers.SerializerMethodField()
    source_conversation = serializers.SerializerMethodField()
    source_index = serializers.SerializerMethodField()
    evidence = EvidenceSerializer(many=True)
    links = serializers.SerializerMethodField()

    class Meta:
        model = LegacyFact
        fields = [
            "id",
            "legacy",
            "category",
            "content",
            "visibility",
            "state",
            "state_reason",
            "mine",
            "author",
            "version",
            "written_by",
            "quote",
            "source_conversation",
            "source_index",
            "evidence",
            "links",
            "reviewed_at",
            "extracted_at",
            "updated_at",
            "purge_at",
        ]

    def to_representation(self, fact: LegacyFact) -> Any:
        """Tell only a reason that the principal may know."""
        shown = super().to_representation(fact)
        return {**shown, "state_reason": reason_shown(self._principal, shown["state_reason"])}

    @property
    def _principal(self) -> Principal:
        principal: Principal = self.context["principal"]
        return principal

    def get_mine(self, fact: LegacyFact) -> bool:
        """Whether the person is the author."""
        return bool(fact.user_id == self._principal.user_id)

    def _shows_source(self, fact: LegacyFact) -> bool:
        return self.get_mine(fact) and may_see_sources(self._principal)

    def get_quote(self, fact: LegacyFact) -> str | None:
        """The first quotation that states it."""
        return next((evidence.quote for evidence in fact.evidence.all()), None)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_source_conversation(self, fact: LegacyFact) -> str | None:
        """The conversation it was learned from."""
        return str(fact.source_conversation_id) if fact.source_conversation_id and self._shows_source(fact) else None

    def get_source_index(self, fact: LegacyFact) -> int | None:
        """The index of its message in that conversation."""
        return fact.source_index if self._shows_source(fact) else None

    @extend_schema_field(LinkSerializer(many=True))
    def get_links(self, fact: LegacyFact) -> list[dict[str, Any]]:
        """Duplicates and contradictions that the principal may see, the nearest first."""
        ends = [(link, link.to_fact) for link in fact.links_from.all()]
        ends += [(link, link.from_fact) for link in fact.links_to.all()]
        ends.sort(key=lambda end: -end[0].strength)
        return [
            {
                "kind": link.kind,
                "fact": str(other.pk),
                "content": other.content,
                "mine": other.user_id == self._principal.user_id,
                "strength": round(link.strength, 4),
            }
            for link, other in ends
        ]


class NewFactSerializer(ExactSerializer):
    """A fact to add: one statement of 5 to 500 characters."""

    content = serializers.CharField()
    category = serializers.ChoiceField(choices=LegacyFact.Category.choices)
    visibility = serializers.ChoiceField(choices=LegacyFact.Visibility.choices, default=LegacyFact.Visibility.PRIVATE)


class EditFactSerializer(ExactSerializer):
    """A new text, category or both; ``version`` is the version that the caller saw."""

    content = serializers.CharField(required=False)
    category = serializers.ChoiceField(choices=LegacyFact.Category.choices, required=False)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require something to change."""
        if not {"content", "category"} & set(attrs):
            raise serializers.ValidationError("Send content, category or both.")
        return attrs


class VisibilitySerializer(ExactSerializer):
    """The visibility of a fact."""

    visibility = serializers.ChoiceField(choices=LegacyFact.Visibility.choices)


class RejectSerializer(ExactSerializer):
    """The reason: it is not true, or it must not be kept; then its source passages are withheld too."""

    reason = serializers.ChoiceField(choices=RejectionReason.choices, required=False, default=RejectionReason.NOT_TRUE)


class RejectedFactSerializer(FactSerializer):
    """A rejected fact. ``also_said``: where else the person said what must not be kept."""

    also_said = AlsoSaidSerializer(many=True)

    class Meta(FactSerializer.Meta):
        fields = [*FactSerializer.Meta.fields, "also_said"]


class FactVersionSerializer(serializers.ModelSerializer[FactVersion]):
    """A fact's text from a version on, and its author: a model, rules or agent; empty for the person's own words."""

    created_at = serializers.DateTimeField(source="recorded_from")

    class Meta:
        model = FactVersion
        fields = ["number", "content", "category", "written_by", "created_at"]


@extend_schema_serializer(many=False)
class FactHistorySerializer(serializers.Serializer[Any]):
    """A page of a fact's history, oldest first, with the versions its changes created."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = ChangeSerializer(many=True)
    versions = FactVersionSerializer(many=True)
