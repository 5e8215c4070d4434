"""REST API of the memory block, the document and undo."""

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
from web.etags import IF_NONE_MATCH, not_modified_or, with_etag, with_weak_etag
from web.idempotency import IdempotentView
from web.json import validated

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
    """The memory block."""

    @extend_schema(parameters=[ContextQuerySerializer, IF_NONE_MATCH], responses=ContextSerializer)
    def get(self, request: Request) -> Response:
        """Read the memory block: text for the top of a prompt, with stable bytes while nothing in it changes.

        With `conversation` as of the conversation's first turn, without what was removed since, so that prompt caching
        works; empty for a private one. With `role` the block of an agent in that role.
        """
        asked = validated(ContextQuerySerializer(data=request.query_params))
        caller = principal_of(request)
        principal = narrowed(caller, asked["role"])
        conversation, delta = None, None
        if asked["conversation"] is not None:
            conversation = Conversation.objects.visible_to(caller).must_find(asked["conversation"])
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
        # The revision counts what the caller does not see, too: an ETag of it would tell that something else changed.
        return not_modified_or(request, with_weak_etag(shown, besides="revision"))

    def _move(self, caller: Principal, conversation: Conversation, pinned: PinnedBlock, delta: str | None) -> None:
        """Store the conversation's pin, and the revision of its last delta."""
        digest = pin_digest(caller, pinned.block.text)
        if pinned.is_new:
            conversation_pin(caller, conversation, Pin(pinned.at, pinned.rev, digest))
        elif not conversation.block_digest:
            conversation_pin(caller, conversation, Pin(pinned.at, pinned.rev, digest, conversation.facts_digest))
        if delta is not None:
            conversation_set_told_rev(caller, conversation, caller.rev)


class MemoryDocument(APIView):
    """All memories as one document."""

    @extend_schema(parameters=[IF_NONE_MATCH], responses=DocumentSerializer)
    def get(self, request: Request) -> Response:
        """Read all memories as one document: active and archived memories, places with mentions, totals."""
        return not_modified_or(request, with_etag(memory_document(principal_of(request))))


class UndoChanges(IdempotentView):
    """Undo."""

    @extend_schema(request=UndoSerializer, responses=UndoneSerializer)
    def post(self, request: Request) -> Response:
        """Undo the revisions from `first` to `last` of memories, facts and places.

        Changes of one action are undone together. `undone` is the number of restored objects. `left` lists the others:
        `built_on` (changed since), `similar_exists`, `field_exists`, `budget` (taken since), `not_yours`, `by_staff`,
        `not_undoable` and others. An agent can undo its own changes; decisions only with the scope admin. The
        response's `first` and `last` are the revisions of the undo, which can be undone, too. 404 if the range has no
        change of the caller.
        """
        principal = self.caller(request)
        body = validated(UndoSerializer(data=request.data))
        undone = undo(principal, body["first"], body["last"])
        return Response(_shown(serialize_undone(undone)))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the result of the first request."""
        return Response(_shown(record.object_ids))


def _shown(kept: Sequence[str]) -> dict[str, Any]:
    """Format the result for the idempotency record."""
    undone, first, last = (int(each) for each in kept[0].split())
    pairs = [each.split(" ", 1) for each in kept[1:]]
    return {
        "undone": undone,
        "left": [{"rev": int(rev), "why": why} for rev, why in pairs],
        "first": first,
        "last": last,
    }
