"""REST API of places: list, add, read, edit, remove, restore, mentions."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import may_see_sources
from accounts.principals import Principal
from journal.exceptions import must_find
from journal.models import IdempotencyRecord
from web.etags import (
    IF_MATCH,
    IF_NONE_MATCH,
    not_modified_or,
    seen_version,
    with_etag,
)
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from .. import actions
from ..filters import PlaceFilters
from ..models import Place, PlaceMention, Proposal
from ..querysets import PlaceQuerySet
from ..serializers import (
    EditPlaceSerializer,
    MemoryConflictSerializer,
    NewPlaceMentionSerializer,
    NewPlaceSerializer,
    PlaceMentionSerializer,
    PlaceSerializer,
    ProposalSerializer,
    ProposedPlaceSerializer,
)
from .proposals import find_proposal


class Places(IdempotentView[Principal], ListAPIView):
    """List the person's places, in order of creation."""

    serializer_class = PlaceSerializer
    filterset_class = PlaceFilters
    queryset = Place.objects.none()

    def get_queryset(self) -> PlaceQuerySet:
        """Those that the principal may see."""
        return _shown(principal_of(self.request)).order_by("added_at", "id")

    @extend_schema(
        request=NewPlaceSerializer,
        responses={201: PlaceSerializer, 200: PlaceSerializer, 202: ProposedPlaceSerializer},
    )
    def post(self, request: Request) -> Response:
        """Add a place, or rename it.

        200: a place with this `place_id` exists, and was renamed. 202: the change waits for the person.
        """
        principal = self.caller(request)
        body = validated(NewPlaceSerializer(data=request.data))
        added = actions.place_add(principal, **body)
        if added.place is None or added.proposal is not None:
            return _answer_waiting(principal, added.place, added.proposal)
        return _answer(principal, added.place.pk, status=201 if added.created else 200)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the current place, or the proposal with its result."""
        return _replay(request, record)


class PlaceDetail(APIView):
    """One place."""

    @extend_schema(responses=PlaceSerializer, parameters=[IF_NONE_MATCH])
    def get(self, request: Request, place_id: UUID) -> Response:
        """Read a place."""
        return not_modified_or(request, _answer(principal_of(request), place_id))

    @extend_schema(
        request=EditPlaceSerializer,
        responses={200: PlaceSerializer, 202: ProposedPlaceSerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def patch(self, request: Request, place_id: UUID) -> Response:
        """Change a place's name or notes. 202: the change waits for the person."""
        principal = principal_of(request)
        body = validated(EditPlaceSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        change = actions.place_edit(principal, place_id, **changed)
        if change.proposal is not None:
            return _answer_waiting(principal, change.place, change.proposal)
        return _answer(principal, place_id)

    @extend_schema(
        responses={204: None, 202: ProposedPlaceSerializer, 409: MemoryConflictSerializer}, parameters=[IF_MATCH]
    )
    def delete(self, request: Request, place_id: UUID) -> Response:
        """Remove a place; it can be restored for 30 days. 202: the removal waits for the person."""
        principal = principal_of(request)
        change = actions.place_remove(principal, place_id, version=seen_version(request))
        if change.proposal is not None:
            return _answer_waiting(principal, change.place, change.proposal)
        return Response(status=204)


class PlaceRestore(IdempotentView[Principal]):
    """Restoring."""

    @extend_schema(request=None, responses=PlaceSerializer)
    def post(self, request: Request, place_id: UUID) -> Response:
        """Restore a place. Needs a session or a key with the scope admin."""
        principal = self.caller(request)
        require_empty_body(request)
        actions.place_restore(principal, place_id)
        return _answer(principal, place_id)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """The place as it is now."""
        return _replay(request, record)


class PlaceMentions(IdempotentView[Principal], ListAPIView):
    """List the messages that name a place, in order of storage."""

    serializer_class = PlaceMentionSerializer
    filter_backends = []
    queryset = PlaceMention.objects.none()

    def get_queryset(self) -> QuerySet[PlaceMention]:
        """Return the mentions of a visible place; none for principals that may not read turns."""
        principal = principal_of(self.request)
        place = find_place(principal, self.kwargs["place_id"])
        mentions = PlaceMention.objects.filter(place=place) if may_see_sources(principal) else self.queryset
        return mentions.select_related("message").order_by("rev", "id")

    @extend_schema(
        request=NewPlaceMentionSerializer, responses={201: PlaceMentionSerializer, 200: PlaceMentionSerializer}
    )
    def post(self, request: Request, place_id: UUID) -> Response:
        """Add a mention of a place. 200: it exists."""
        principal = self.caller(request)
        message_id = _message_of(request)
        noted = actions.place_mention(principal, place_id, message_id)
        return _answer_mention(principal, place_id, message_id, 201 if noted else 200)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the mention of the first request."""
        principal, place_id = principal_of(request), self.kwargs["place_id"]
        return _answer_mention(principal, place_id, _message_of(request), record.status_code or 200)


def _shown(principal: Principal) -> PlaceQuerySet:
    conversations = Count("mentions__message__conversation", distinct=True)
    return Place.objects.visible_to(principal).annotate(conversations=conversations)


def find_place(principal: Principal, place_id: UUID) -> Place:
    """Return a visible place. Raises NotFound."""
    return must_find(_shown(principal).filter(pk=place_id).first(), "place")


def _answer(principal: Principal, place_id: UUID, status: int = 200) -> Response:
    place = find_place(principal, place_id)
    return with_etag(PlaceSerializer(place).data, version=place.version, status=status)


def _answer_waiting(principal: Principal, place: Place | None, proposal: Proposal | None) -> Response:
    shown = None if place is None else PlaceSerializer(find_place(principal, place.pk)).data
    waiting = ProposalSerializer(proposal, context={"principal": principal}).data
    return Response({"place": shown, "proposal": waiting}, status=202)


def _message_of(request: Request) -> UUID:
    message_id: UUID = validated(NewPlaceMentionSerializer(data=request.data))["message"]
    return message_id


def _answer_mention(principal: Principal, place_id: UUID, message_id: UUID, status: int) -> Response:
    place = find_place(principal, place_id)
    mention = PlaceMention.objects.select_related("message").get(place=place, message=message_id)
    return Response(PlaceMentionSerializer(mention).data, status=status)


def _replay(request: Request, record: IdempotencyRecord) -> Response:
    principal, object_id = principal_of(request), UUID(record.object_ids[0])
    if record.object_type != "proposal":
        return _answer(principal, object_id, record.status_code or 200)
    proposal = find_proposal(principal, object_id)
    place = Place.objects.visible_to(principal).filter(place_id=proposal.values.get("place_id", "")).first()
    return _answer_waiting(principal, place, proposal)
