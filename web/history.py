"""The view of one object's changes, from its owner's log."""

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
        """Return the kind of actor; for agents with the id."""
        return f"agent:{change.actor_id}" if change.actor_kind == "agent" else change.actor_kind

    def get_meta(self, change: Change) -> dict[str, Any]:
        """Return the metadata without ``left``, the previous category, which the caller may not be allowed to see."""
        return {name: value for name, value in change.meta.items() if name != "left"}


class ObjectHistory(ListAPIView):
    """Lists the changes of one object by cursor. Subclasses locate the object and render its versions."""

    serializer_class = ChangeSerializer
    pagination_class = ByRev
    filter_backends = []
    queryset = Change.objects.none()
    object_type = ""

    def locate(self) -> tuple[UUID, object]:
        """Return the owner of the log and the id of the object. Raises NotFound if the caller may not see it."""
        raise NotImplementedError

    def show_versions(self, numbers: Collection[int]) -> Any:
        """Return the versions with these numbers, the earliest first."""
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Change]:
        """Return the object's changes."""
        owner_id, object_id = self.locate()
        return Change.objects.of_owner(owner_id).filter(object_type=self.object_type, object_id=str(object_id))

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Read the history: changes, the latest first, and the wordings that they led to."""
        answer = super().get(request, *args, **kwargs)
        numbers = {change["new_version"] for change in answer.data["results"]}
        answer.data["versions"] = self.show_versions(numbers - {None})
        return answer
