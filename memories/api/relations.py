"""REST for how memories are related."""

from __future__ import annotations

from typing import Any

from rest_framework.generics import ListAPIView

from accounts.authentication import principal_of

from ..filters import RelationFilters
from ..models import Relation
from ..querysets import RelationQuerySet
from ..serializers import RelationSerializer
from .answers import find_memory


class MemoryRelations(ListAPIView):
    """List what a memory is near to, what it supersedes or was superseded by, what it was made of; the strongest first.

    Relations to memories that the caller does not see are left out.
    """

    serializer_class = RelationSerializer
    filterset_class = RelationFilters
    queryset = Relation.objects.none()

    def get_queryset(self) -> RelationQuerySet:
        """Those of the memory."""
        principal = principal_of(self.request)
        memory = find_memory(principal, self.kwargs["memory_id"])
        return Relation.objects.visible_to(principal).of(memory.pk).with_memories().order_by("-strength", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """The memory that was asked about."""
        return {**super().get_serializer_context(), "memory_id": self.kwargs.get("memory_id", "")}
