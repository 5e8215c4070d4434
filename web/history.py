"""What happened to one object, out of its owner's log."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from journal.models import Change

from .pagination import ByRev


class ChangeSerializer(serializers.ModelSerializer[Change]):
    """Something that happened to an object. Staff and jobs are not named, an agent by its id."""

    actor = serializers.SerializerMethodField()
    meta = serializers.SerializerMethodField()

    class Meta:
        model = Change
        fields = ["rev", "event", "actor", "old_version", "new_version", "at", "meta"]

    def get_actor(self, change: Change) -> str:
        """The kind of actor; of agents, with the id."""
        return f"agent:{change.actor_id}" if change.actor_kind == "agent" else change.actor_kind

    def get_meta(self, change: Change) -> dict[str, Any]:
        """What else is known of it, but for what it was filed under before: that may be closed to the caller."""
        return {name: value for name, value in change.meta.items() if name != "left"}


class ObjectHistory(ListAPIView):
    """Changes of one object by cursor. A subclass says whose log they are in and which wordings they led to."""

    serializer_class = ChangeSerializer
    pagination_class = ByRev
    filter_backends = []
    queryset = Change.objects.none()
    object_type = ""

    def locate(self) -> tuple[UUID, object]:
        """The owner of the log and the id of the object. Raises NotFound when the caller may not see it."""
        raise NotImplementedError

    def show_versions(self, numbers: Collection[int]) -> Any:
        """The wordings with these numbers, the earliest first."""
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Change]:
        """The object's changes."""
        owner_id, object_id = self.locate()
        return Change.objects.of_owner(owner_id).filter(object_type=self.object_type, object_id=str(object_id))

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Read the history: changes, the latest first, and the wordings that they led to."""
        answer = super().get(request, *args, **kwargs)
        numbers = {change["new_version"] for change in answer.data["results"]}
        answer.data["versions"] = self.show_versions(numbers - {None})
        return answer
