"""REST for all that is remembered at once: the block for a prompt, the document, undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import narrowed
from accounts.principals import Principal
from conversations.actions import Pin, conversation_pin, conversation_set_told_rev
from conversations.models import Conversation
from conversations.policy import may_pin
from journal.models import IdempotencyRecord
from journal.undo import serialize_undone, undo
from web.etags import IF_NONE_MATCH, unless_known, with_etag
from web.idempotency import WritesOnce

from ..actions import memories_show
from ..block import Block, memory_block
from ..delta import memory_delta
from ..difference import Difference, PinnedBlock, pin_digest, pinned_block
from ..document import memory_document
from ..models import Disclosure
from ..serializers import (
    ContextQuerySerializer,
    ContextSerializer,
    DocumentSerializer,
    UndoneSerializer,
    UndoSerializer,
)


class MemoryContext(APIView):
    """What every prompt carries of the person's memory."""

    @extend_schema(parameters=[ContextQuerySerializer, IF_NONE_MATCH], responses=ContextSerializer)
    def get(self, request: Request) -> Response:
        """Read the memory block: text for the top of a prompt, the same bytes as long as nothing in it changes.

        With `conversation` as it stood at the conversation's first turn, less what was taken away since, so that the
        model's prompt cache holds; empty for a private one. With `role` what an agent in that role would get.
        """
        asked = ContextQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        caller = principal_of(request)
        principal = narrowed(caller, asked.validated_data["role"])
        conversation, delta = None, None
        if asked.validated_data["conversation"] is not None:
            conversation = Conversation.objects.visible_to(caller).must_find(asked.validated_data["conversation"])
        difference = Difference()
        if conversation is None:
            block = memory_block(principal)
        elif conversation.private:
            block = Block("", 0, (), (), principal.rev)
        else:
            moves = principal == caller and may_pin(caller, conversation)
            pinned = pinned_block(principal, conversation, moves=moves)
            block, difference = pinned.block, pinned.difference
            delta = memory_delta(principal, conversation.seen_rev)
            if moves:
                self._move(caller, conversation, pinned, delta)
        memories_show(
            caller,
            Disclosure.By.CONTEXT,
            tuple(dict.fromkeys((*block.ids, *difference.ids))),
            conversation_id=conversation.pk if conversation else None,
        )
        shown = {
            "text": block.text,
            "tokens": block.tokens,
            "revision": block.revision,
            "difference": difference.text or None,
            "delta": delta,
        }
        return unless_known(request, with_etag(shown))

    def _move(self, caller: Principal, conversation: Conversation, pinned: PinnedBlock, delta: str | None) -> None:
        """Note what the conversation is pinned to from now on, and up to where it was told what changed."""
        digest = pin_digest(caller, pinned.block.text)
        if pinned.is_new:
            conversation_pin(caller, conversation, Pin(pinned.at, pinned.rev, digest))
        elif not conversation.block_digest:
            conversation_pin(caller, conversation, Pin(pinned.at, pinned.rev, digest, conversation.facts_digest))
        if delta is not None:
            conversation_set_told_rev(caller, conversation, caller.rev)


class MemoryDocument(APIView):
    """Everything that is remembered, as one document."""

    @extend_schema(parameters=[IF_NONE_MATCH], responses=DocumentSerializer)
    def get(self, request: Request) -> Response:
        """Read everything that is remembered as one document.

        Memories as facts, archived ones as inactive, places with where they were mentioned, and totals.
        """
        return unless_known(request, with_etag(memory_document(principal_of(request))))


class UndoChanges(WritesOnce):
    """Whatever was changed, put back."""

    @extend_schema(request=UndoSerializer, responses=UndoneSerializer)
    def post(self, request: Request) -> Response:
        """Let memories, facts and places stand as they stood before the revisions from `first` to `last`.

        What was done together is undone together. `left` names what was not: `built_on` (changed since),
        `similar_exists`, `field_exists`, `budget` (its place was taken since), `not_yours`, `by_staff`, `not_undoable`
        and others. An agent undoes what it did itself, decisions with the scope admin only. `undone` counts what is as
        it was; undoing took the revisions from `first` to `last`, and can be undone by them. 404 where the range holds
        nothing of the caller's.
        """
        principal = self.caller(request)
        body = UndoSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        undone = undo(principal, body.validated_data["first"], body.validated_data["last"])
        return Response(_shown(serialize_undone(undone)))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """What came of the first request."""
        return Response(_shown(record.object_ids))


def _shown(kept: Sequence[str]) -> dict[str, Any]:
    """What came of undoing, as it is kept with an Idempotency-Key."""
    undone, first, last = (int(each) for each in kept[0].split())
    pairs = [each.split(" ", 1) for each in kept[1:]]
    return {
        "undone": undone,
        "left": [{"rev": int(rev), "why": why} for rev, why in pairs],
        "first": first,
        "last": last,
    }
