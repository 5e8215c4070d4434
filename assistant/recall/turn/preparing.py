"""Everything one model call needs: instructions, memory, facts, what was recalled, the conversation, the new message.

``prepare_turn`` reads, packs into a token budget, and renders. What stands above the cache boundary keeps the same
bytes from turn to turn of a conversation; what changes with every turn (the time, what was recalled) stands below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts import policy
from accounts.principals import Principal
from conversations.actions import NewMessage, Pin, check_messages, conversation_told, messages_append
from conversations.models import Conversation, Message
from conversations.searching import find_conversation
from language.fencing import FACTS_FENCE, RECALL_FENCE, SUMMARY_FENCE
from memories.actions import memories_show
from memories.models import Disclosure

from ..search import By, recall_show
from . import rendering
from .fitting import fit
from .gathering import gather
from .pieces import FACTS_NOTE, RECALL_NOTE, SUMMARY_NOTE, Draft, fenced

FORMATS = ("anthropic", "openai", "gemini", "text", "json")
DEFAULT_INSTRUCTIONS = (
    "You are a warm, attentive companion in conversation. Use what you know about the person and about whom they "
    "remember naturally, and never claim to know what is not written here."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """The prepared call: ``system`` as Anthropic blocks, ``text`` the whole as plain text, ``messages`` as asked for.

    ``used`` lists ids by kind, ``dropped`` what the budget left out, ``tokens`` what the whole costs, ``revision`` the
    person's revision that it was built at. ``delta`` is what the text tells of changes since the conversation last
    looked, None when there is nothing to tell. ``recalled_again`` says that what was found at first was not likely to
    fit, so that there was a second look.
    """

    format: str
    system: list[dict[str, Any]]
    text: str
    messages: list[dict[str, Any]]
    used: dict[str, list[str]]
    dropped: list[dict[str, Any]]
    delta: str | None
    tokens: int
    revision: int
    recalled_again: bool
    extra: dict[str, Any] = field(default_factory=dict)


def prepare_turn(
    principal: Principal,
    conversation_id: UUID,
    content: str,
    *,
    budget_tokens: int | None = None,
    instructions: str = "",
    format: str = "anthropic",
    save: bool = False,
    before_index: int | None = None,
) -> Turn:
    """Prepare the next model call of a conversation for the message ``content``.

    Nothing is saved unless ``save`` is true (needs the scope write); asked again, it answers the same. When the budget
    (16,000 tokens unless told otherwise) is too small, these go, in this order: what is related to recalled memories,
    what was said around recalled turns, recalled turns, recalled chunks, recalled memories, recalled facts, the oldest
    messages of the window, the last lines of the facts block, the least needed lines of the memory block, the latest
    summary, what changed. Instructions and the incoming text never go.

    ``before_index`` leaves out the record from that message on, as it stood when that message came in.

    Raises NotFound, NotAllowed, Refused for a message that can't be saved, Gated (422 ``budget``) when instructions
    and incoming text alone are over the budget.
    """
    policy.must_read(principal)
    new = [NewMessage(Message.Role.USER, content)]
    if save:
        policy.must_write(principal)
        check_messages(new)
    conversation = find_conversation(principal, conversation_id)
    pin = _pin_due(principal, conversation) if before_index is None else None
    budget = settings.TURN_BUDGET_TOKENS if budget_tokens is None else budget_tokens
    upto = conversation.message_count if before_index is None else before_index
    instructions = instructions or DEFAULT_INSTRUCTIONS
    draft = gather(principal, conversation, content, instructions, pin=pin, upto=upto, budget=budget)
    tokens = fit(draft, budget)
    turn = _render(principal, draft, format, tokens)
    if save:
        messages_append(principal, conversation.pk, new, pin=pin)
    if before_index is None:
        recalled = [str(piece.id) for piece in (*draft.recalled.memories, *draft.recalled.related)]
        memories_show(
            principal, Disclosure.By.TURN, draft.memory.ids, recalled=recalled, conversation_id=conversation.pk
        )
        if turn.recalled_again:
            recall_show(principal, By.TURN, conversation.pk, best=draft.recalled.best)
        if turn.delta is not None:
            conversation_told(principal, conversation, turn.revision)
    return turn


def _pin_due(principal: Principal, conversation: Conversation) -> Pin | None:
    """Where to pin the prompts to: here and now at the first turn and after an idle hour, else None (they stay)."""
    now = timezone.now()
    return None if conversation.is_pinned(now) else Pin(now, principal.rev)


def _render(principal: Principal, draft: Draft, format_name: str, tokens: int) -> Turn:
    stable = draft.stable
    if draft.memory.text:
        stable += "\n\n" + draft.memory.text
    if draft.facts:
        stable += "\n\n" + fenced(FACTS_FENCE, FACTS_NOTE, draft.facts)
    below = [draft.head]
    if draft.delta is not None:
        below.append(draft.delta)
    latest = [draft.latest_chunk] if draft.latest_chunk else []
    recalled = draft.recalled
    pieces = recalled.pieces
    if latest:
        below.append(fenced(SUMMARY_FENCE, SUMMARY_NOTE, latest))
    if pieces:
        below.append(fenced(RECALL_FENCE, RECALL_NOTE, pieces))
    rendered = rendering.render(format_name, stable, "\n\n".join(below), draft.window, draft.incoming)
    return Turn(
        format=format_name,
        system=rendered.system,
        text=rendered.text,
        messages=rendered.messages,
        used={
            "facts": [str(piece.id) for piece in [*draft.facts, *recalled.facts]],
            "memories": [*draft.memory.ids, *(str(piece.id) for piece in (*recalled.memories, *recalled.related))],
            "chunks": [str(piece.id) for piece in [*latest, *recalled.chunks]],
            "turns": [str(piece.id) for piece in [*recalled.turns, *recalled.neighbours]],
        },
        dropped=draft.dropped,
        delta=draft.delta,
        tokens=tokens,
        revision=principal.rev,
        recalled_again=recalled.again,
        extra=rendered.extra,
    )
