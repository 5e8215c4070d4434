"""REST endpoints of agents' checkpoints: JSON states of threads, and states of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from django.db.models import Count, Max
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import must_read
from journal.exceptions import NotFound, Refused
from web.json import decoded, validated
from web.pagination import NumberedPages

from .. import actions
from ..models import Checkpoint, CheckpointWrite
from ..querysets import CheckpointQuerySet
from ..serializers import (
    AgentQuerySerializer,
    CopyGraphSerializer,
    DeleteRunsSerializer,
    GraphQuerySerializer,
    GraphStateSerializer,
    GraphWritesSerializer,
    NewGraphStateSerializer,
    NewStateSerializer,
    PruneGraphsSerializer,
    SavedStateSerializer,
    StateSerializer,
    ThreadSerializer,
    read_blob,
    shown_state,
)


def _queried(request: Request, serializer: type[Any]) -> dict[str, Any]:
    return validated(serializer(data=request.query_params.dict()))


class Threads(ListAPIView):
    """List the threads that have states, the latest first: an agent its own, the person all of theirs."""

    serializer_class = ThreadSerializer
    filter_backends = []
    queryset = Checkpoint.objects.none()

    def get_queryset(self) -> Any:
        """Return one row per thread."""
        principal = principal_of(self.request)
        must_read(principal)
        states = Checkpoint.objects.visible_to(principal)
        threads = states.values("thread", "agent_id").annotate(version=Max("version"), at=Max("at"), states=Count("pk"))
        return threads.order_by("-at", "thread")


class Thread(APIView):
    """The state of one thread."""

    @extend_schema(parameters=[AgentQuerySerializer], responses=StateSerializer)
    def get(self, request: Request, thread: str) -> Response:
        """Load the newest state of a thread."""
        return Response(shown_state(_states(request, thread)[0]))

    @extend_schema(request=NewStateSerializer, responses={200: SavedStateSerializer, 201: SavedStateSerializer})
    def put(self, request: Request, thread: str) -> Response:
        """Save the state of a thread: any JSON of at most 1 MB. 201 when it is the first.

        `version` is the one that the caller loaded, 0 for none: another one by now is a 409 `version_conflict`.
        """
        sent = validated(NewStateSerializer(data=request.data))
        _check_thread(thread)
        made = actions.checkpoint_save(principal_of(request), thread, sent["state"], version=sent.get("version"))
        shown = {"thread": made.thread, "version": made.version, "at": made.at}
        return Response(SavedStateSerializer(shown).data, status=201 if made.version == 1 else 200)

    @extend_schema(parameters=[AgentQuerySerializer], responses={204: None})
    def delete(self, request: Request, thread: str) -> Response:
        """Delete all states of a thread, those of graphs too."""
        _check_thread(thread)
        agent_id = _queried(request, AgentQuerySerializer)["agent"]
        actions.thread_delete(principal_of(request), thread, agent_id=agent_id)
        return Response(status=204)


class ThreadHistory(APIView):
    """The states that a thread had."""

    @extend_schema(parameters=[AgentQuerySerializer], responses=StateSerializer(many=True))
    def get(self, request: Request, thread: str) -> Response:
        """List the last states of a thread, the newest first: 10 of them are kept."""
        return Response([shown_state(each) for each in _states(request, thread)])


def _check_thread(thread: str) -> None:
    if not thread.isprintable() or len(thread) > 255:
        raise Refused("The name of a thread has 1 to 255 printable characters.", code="bad_thread")


def _states(request: Request, thread: str) -> list[Checkpoint]:
    """Return the simple states of a thread, the newest first. Raises NotFound when there is none."""
    _check_thread(thread)
    principal = principal_of(request)
    must_read(principal)
    whose = principal.agent_id if principal.agent_id is not None else _queried(request, AgentQuerySerializer)["agent"]
    rows = Checkpoint.objects.visible_to(principal).states().filter(thread=thread, agent_id=whose)
    states = list(rows.order_by("-version"))
    if not states:
        raise NotFound("There is no such thread.")
    return states


class FewAtOnce(NumberedPages):
    """Pages of 10, or ``per_page`` up to 20, since a state may have a megabyte."""

    page_size = 10
    max_page_size = 20
    own = ("page", "thread", "namespace", "checkpoint_id", "before", "metadata")


class GraphStates(ListAPIView):
    """List states of graphs with what was written to them, the newest first."""

    serializer_class = GraphStateSerializer
    pagination_class = FewAtOnce
    filter_backends = []
    queryset = Checkpoint.objects.none()

    @extend_schema(parameters=[GraphQuerySerializer])
    def get(self, request: Request) -> Response:
        """List states of graphs with what was written to them, the newest first. An agent sees its own."""
        page: list[Checkpoint] = self.paginate_queryset(self.get_queryset()) or []
        return self.get_paginated_response(GraphStateSerializer(self._with_writes(page), many=True).data)

    def get_queryset(self) -> CheckpointQuerySet:
        """Return the states that match the query parameters."""
        principal = principal_of(self.request)
        must_read(principal)
        asked = _queried(self.request, GraphQuerySerializer)
        rows = Checkpoint.objects.written_by(principal).of_graphs()
        for name in ("thread", "namespace", "checkpoint_id"):
            if name in asked:
                rows = rows.filter(**{name: asked[name]})
        if "before" in asked:
            rows = rows.filter(checkpoint_id__lt=asked["before"])
        if "metadata" in asked:
            rows = rows.filter(metadata__contains=_metadata(asked["metadata"]))
        return rows.order_by("-checkpoint_id", "thread", "namespace")

    def _with_writes(self, states: Sequence[Checkpoint]) -> list[dict[str, Any]]:
        """Return the states of a page, each with its writes."""
        places = {(each.thread, each.namespace, each.checkpoint_id): list[CheckpointWrite]() for each in states}
        if places:
            rows = CheckpointWrite.objects.written_by(principal_of(self.request))
            threads, _, ids = zip(*places, strict=True)
            for write in rows.filter(thread__in=set(threads), checkpoint_id__in=set(ids)):
                places.get((write.thread, write.namespace, write.checkpoint_id), []).append(write)
        for writes in places.values():
            writes.sort(key=lambda write: (write.task_path, write.task_id, write.index))
        return [{"state": each, "writes": places[each.thread, each.namespace, each.checkpoint_id]} for each in states]

    @extend_schema(request=NewGraphStateSerializer, responses={204: None})
    def put(self, request: Request) -> Response:
        """Save a state of a graph, in the place of one with the same ids; at most 780 KB."""
        body = validated(NewGraphStateSerializer(data=request.data))
        sent = {**body, "blob": read_blob(body["blob"])}
        actions.graph_save(principal_of(request), actions.GraphState(**sent))
        return Response(status=204)


def _metadata(sent: str) -> dict[str, Any]:
    try:
        read = decoded(sent)
    except orjson.JSONDecodeError as error:
        raise Refused("metadata is not JSON.", code="bad_filter") from error
    if not isinstance(read, dict) or "\\u0000" in sent:
        raise Refused("metadata is an object of keys and values, without NUL.", code="bad_filter")
    return read


class GraphWrites(APIView):
    """What tasks wrote after a state of a graph."""

    @extend_schema(request=GraphWritesSerializer, responses={204: None})
    def put(self, request: Request) -> Response:
        """Save what a task wrote after a state, at most 780 KB. What is there stays, but for an index below 0."""
        sent = dict(validated(GraphWritesSerializer(data=request.data)))
        writes = [
            actions.GraphWrite(each["index"], each["channel"], read_blob(each["blob"])) for each in sent.pop("writes")
        ]
        actions.graph_write(principal_of(request), sent.pop("thread"), writes, **sent)
        return Response(status=204)


class GraphCopy(APIView):
    """One thread under another name."""

    @extend_schema(request=CopyGraphSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Copy all states of a thread, and what was written to them, to another thread."""
        body = validated(CopyGraphSerializer(data=request.data))
        actions.graph_copy(principal_of(request), **body)
        return Response(status=204)


class GraphsPrune(APIView):
    """What is no longer needed of threads."""

    @extend_schema(request=PruneGraphsSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Delete all states of graphs' threads but the newest of each namespace, or all.

        What the newest is rebuilt from stays: where its `metadata` names channels under
        `counters_since_delta_snapshot`, the states back to the one whose `channels` name them.
        """
        body = validated(PruneGraphsSerializer(data=request.data))
        actions.graphs_prune(principal_of(request), **body)
        return Response(status=204)


class GraphsDeleteRuns(APIView):
    """What runs made."""

    @extend_schema(request=DeleteRunsSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Delete the states whose `metadata` names one of the runs as its `run_id`, and what was written to them."""
        body = validated(DeleteRunsSerializer(data=request.data))
        actions.graphs_delete_runs(principal_of(request), body["runs"])
        return Response(status=204)


urlpatterns = [
    path("checkpoints/", Threads.as_view(), name="threads"),
    path("checkpoints/<str:thread>/", Thread.as_view(), name="thread"),
    path("checkpoints/<str:thread>/history/", ThreadHistory.as_view(), name="thread-history"),
    path("graph-checkpoints/", GraphStates.as_view(), name="graph-states"),
    path("graph-checkpoints/writes/", GraphWrites.as_view(), name="graph-writes"),
    path("graph-checkpoints/copy/", GraphCopy.as_view(), name="graph-copy"),
    path("graph-checkpoints/prune/", GraphsPrune.as_view(), name="graphs-prune"),
    path("graph-checkpoints/delete-runs/", GraphsDeleteRuns.as_view(), name="graphs-delete-runs"),
]
