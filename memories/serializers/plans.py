"""Serializers of merge plans and relations."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from journal.models import JobRun
from web.json import ExactSerializer

from ..models import MemoryPlan, MemoryPlanItem, MemoryPlanSource, Relation
from ..plans import WhyAsked, job_of, why_it_asks
from ..strategies import STRATEGIES
from .waiting import ProposedMemorySerializer


class NewPlanSerializer(ExactSerializer):
    """A new plan, about some ``categories``, or all.

    ``pinned`` memories are left alone unless asked for. Fields, procedures, what ends by itself and what a client has
    under an ``external_id`` always are.
    """

    strategy = serializers.CharField(max_length=40, required=False, help_text=f"One of: {', '.join(STRATEGIES)}.")
    categories = serializers.ListField(child=serializers.CharField(max_length=50), required=False, max_length=100)
    pinned = serializers.BooleanField(required=False)


class PlanSourceSerializer(serializers.ModelSerializer[MemoryPlanSource]):
    """A source at the time of planning. Null if it is not visible any more."""

    id = serializers.CharField(source="memory_id", allow_null=True)
    content = serializers.CharField(allow_null=True)
    subject = serializers.CharField(allow_null=True)

    class Meta:
        model = MemoryPlanSource
        fields = ["id", "version", "content", "subject"]


class PlanItemSerializer(serializers.ModelSerializer[MemoryPlanItem]):
    """A merge of ``sources``. After the plan has ended, the text is in ``merged``.

    ``tokens_before`` is what the lines of the sources cost in a prompt, ``tokens_after`` what this one would.
    ``reason`` says why it was skipped, or kept when the plan was taken back.
    """

    merged = ProposedMemorySerializer(allow_null=True)
    sources = PlanSourceSerializer(many=True)

    class Meta:
        model = MemoryPlanItem
        fields = [
            "id",
            "state",
            "reason",
            "content",
            "kind",
            "category",
            "subject",
            "topics",
            "importance",
            "tokens_before",
            "tokens_after",
            "merged",
            "sources",
        ]


class PlanJobSerializer(serializers.ModelSerializer[JobRun]):
    """The progress of a plan: ``done`` of ``total`` memories."""

    class Meta:
        model = JobRun
        fields = ["id", "state", "done", "total"]


class PlanSerializer(serializers.ModelSerializer[MemoryPlan]):
    """A plan; its text is deleted at ``expires_at``.

    ``looked_at`` says how many memories it is about, ``left_over`` how many more there are for a later plan.
    ``written_by`` names the model, or the rules, whose wordings it holds. ``categories`` is null for all. ``job`` is
    null when it was made at once. ``asks_because`` says why merges that the daily consolidation found wait for the
    person: ``review`` (they look at everything first), ``share`` (too many memories would be archived at once); empty
    for other plans.
    """

    asks_because = serializers.SerializerMethodField()
    looked_at = serializers.SerializerMethodField()
    job = serializers.SerializerMethodField()
    items = PlanItemSerializer(many=True)

    class Meta:
        model = MemoryPlan
        fields = [
            "id",
            "state",
            "strategy",
            "categories",
            "pinned",
            "looked_at",
            "left_over",
            "asks_because",
            "written_by",
            "job",
            "items",
            "created_at",
            "expires_at",
            "decided_at",
        ]

    def get_asks_because(self, plan: MemoryPlan) -> WhyAsked:
        """Return why the person is asked."""
        return why_it_asks(plan, self.context["principal"])

    def get_looked_at(self, plan: MemoryPlan) -> int:
        """Return the number of processed memories."""
        return len(plan.looked_at)

    @extend_schema_field(PlanJobSerializer(allow_null=True))
    def get_job(self, plan: MemoryPlan) -> Any:
        """Return the progress."""
        job = job_of(plan)
        return None if job is None else PlanJobSerializer(job).data


class ApplyPlanSerializer(ExactSerializer):
    """The items to apply; default: all. The others are dropped."""

    items = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, min_length=1, max_length=1_000
    )


class RelationSerializer(serializers.ModelSerializer[Relation]):
    """A relation to another memory, ``memory``.

    With ``direction`` from, it is the one that supersedes or is derived from the other; with to it is the other's turn.
    What is ``related_to`` is so both ways. ``strength`` is from 0 to 1.
    """

    direction = serializers.SerializerMethodField()
    memory = serializers.SerializerMethodField()

    class Meta:
        model = Relation
        fields = ["id", "type", "direction", "strength", "memory", "created_at"]

    @extend_schema_field(serializers.ChoiceField(choices=["from", "to"]))
    def get_direction(self, relation: Relation) -> str:
        """Return the direction, seen from the requested memory."""
        return "from" if relation.from_memory_id == self.context["memory_id"] else "to"

    @extend_schema_field(ProposedMemorySerializer)
    def get_memory(self, relation: Relation) -> Any:
        """Return the other memory."""
        asked = relation.from_memory_id == self.context["memory_id"]
        return ProposedMemorySerializer(relation.to_memory if asked else relation.from_memory).data
