"""REST for agents: the next turn, finishing a conversation, jobs."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import principal_of
from accounts.principals import Principal
from conversations.actions import refusals_of
from conversations.models import Message
from journal.models import IdempotencyRecord
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from .erasure import api as erasure
from .imports import api as imports
from .jobs import Job, OperationsSummary, latest_job
from .learn import api as extraction
from .learn import summarizing as actions
from .recall.query import api as querying
from .recall.turn import PreparedTurn, prepare_turn
from .reply import api as replies
from .serializers import (
    CommandAnswerSerializer,
    CommandSerializer,
    JobSerializer,
    NothingLeftSerializer,
    TurnRequestSerializer,
    TurnSerializer,
)
from .takeout import api as takeout
from .tools import api as tools
from .tools.command import CommandAnswer, repeat_answer, run_command


class Turn(IdempotentView[Principal]):
    """The next model call of a conversation."""

    reads_only = True

    @extend_schema(request=TurnRequestSerializer, responses=TurnSerializer)
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Prepare the next model call of a conversation: instructions, memory, recall, latest messages.

        ``save`` stores the person's message and needs the scope write; without it nothing is stored.
        """
        body = validated(TurnRequestSerializer(data=request.data))
        principal = self.caller(request) if body.get("save") else principal_of(request)
        return _answer(prepare_turn(principal, conversation_id, **body))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Prepare the turn again, without the message that the first request saved."""
        body = validated(TurnRequestSerializer(data=request.data))
        principal = principal_of(request)
        saved = get_object_or_404(Message.objects.visible_to(principal), pk=record.object_ids[0])
        values = {**body, "save": False}
        turn = prepare_turn(
            principal, conversation_id=saved.conversation_id, before_index=saved.index, again=True, **values
        )
        return _answer(replace(turn, refusals=refusals_of([saved])))


NOTHING_LEFT = {"detail": "Nothing was left to summarise."}


def _answer(turn: PreparedTurn) -> Response:
    body = asdict(turn)
    return Response({**body.pop("extra"), **body})


class Finish(IdempotentView[Principal]):
    """The end of a conversation."""

    @extend_schema(request=None, responses={200: NothingLeftSerializer, 202: JobSerializer})
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Finish a conversation: summarise the rest in the background. Appending reopens it."""
        principal = self.caller(request)
        require_empty_body(request)
        job = actions.conversation_finish(principal, conversation_id)
        if job is None:
            return Response(NOTHING_LEFT)
        return Response(JobSerializer(job).data, status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The latest job of that conversation."""
        job = latest_job(principal, actions.JOB, object_ids[0])
        return JobSerializer(job).data if job else NOTHING_LEFT


class Command(IdempotentView[Principal]):
    """Typed commands to list and change memories."""

    reads_only = True

    @extend_schema(request=CommandSerializer, responses={200: CommandAnswerSerializer, 202: CommandAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Execute a typed command to list or change memories.

        `/memory`, `/memory list [category] [page]`, `/memory delete <id>` or `/memory restore <id>`.


        A list needs the scope read, a change write too. 202: the change waits for the person.
        """
        return _answer_command(run_command(self.caller(request), self._typed(request)))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the outcome of the first request, with the current memory."""
        return _answer_command(repeat_answer(principal_of(request), self._typed(request), record))

    def _typed(self, request: Request) -> str:
        return str(validated(CommandSerializer(data=request.data))["text"])


def _answer_command(answer: CommandAnswer) -> Response:
    waits = answer.data.get("outcome") == "waiting"
    return Response(CommandAnswerSerializer(answer).data, status=202 if waits else 200)


urlpatterns = [
    path("conversations/<uuid:conversation_id>/turn/", Turn.as_view(), name="turn"),
    path("conversations/<uuid:conversation_id>/finish/", Finish.as_view(), name="finish"),
    path("command/", Command.as_view(), name="command"),
    path("events/summary/", OperationsSummary.as_view(), name="events-summary"),
    path("jobs/<uuid:job_id>/", Job.as_view(), name="job"),
    *erasure.urlpatterns,
    *extraction.urlpatterns,
    *imports.urlpatterns,
    *querying.urlpatterns,
    *replies.urlpatterns,
    *takeout.urlpatterns,
    *tools.urlpatterns,
]
