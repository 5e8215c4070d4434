"""The prompt of one model call: instructions, memory, facts, recall, conversation, new message.

``prepare_turn`` loads, applies the token budget, and renders. Text above the cache boundary keeps its bytes from turn
to turn; text that changes with every turn (time, recall) is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts import policy
from accounts.principals import Principal
from conversations.actions import (
    NewMessage,
    check_messages,
    conversation_pin,
    conversation_set_told_rev,
    messages_append,
    refusals_of,
)
from conversations.models import Message
from conversations.policy import may_pin
from conversations.searching import find_conversation
from journal.models import Ledger
from language.fencing import FACTS_FENCE, RECALL_FENCE, SUMMARY_FENCE
from memories.actions import memories_show
from memories.models import Disclosure
from statements.models import Candidate

from ..search import By, recall_show
from . import rendering
from .fitting import fit
from .gathering import gather
from .pieces import FACTS_NOTE, RECALL_NOTE, SUMMARY_NOTE, Draft, Piece, noted

FORMATS = ("anthropic", "openai", "gemini", "text", "json")
DEFAULT_INSTRUCTIONS = (
    "You are a warm, attentive companion in conversation. Use what you know about the person and about whom they "
    "remember naturally, and never claim to know what is not written here."
)


Append = Callable[[Principal, UUID, Sequence[NewMessage]], list[Message]]
_append: Append = partial(messages_append, in_turn=True)


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A prepared prompt: ``system`` as Anthropic blocks, ``text`` as plain text, ``messages`` in the requested format.

    ``used``: ids by kind. ``dropped``: what the budget excluded. ``tokens``: of the whole prompt. ``revision``: the
    person's revision. ``difference``: current statements that are missing or outdated in the pinned blocks, or None.
    ``delta``: changes since the conversation's last query, or None. ``recalled_again``: there was a second search,
    since the first was not confident. ``refusals``: messages whose words the saved message withheld. ``waiting``:
    number of the person's candidates over a cap.
    """

    format: str
    system: list[dict[str, Any]]
    text: str
    messages: list[dict[str, Any]]
    used: dict[str, list[str]]
    dropped: list[dict[str, Any]]
    difference: str | None
    delta: str | None
    tokens: int
    revision: int
    recalled_again: bool
    refusals: list[dict[str, Any]] = field(default_factory=list)
    waiting: int = 0
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
    again: bool = False,
    append: Append = _append,
) -> PreparedTurn:
    """Prepare the next model call of a conversation for the message ``content``.

    ``save`` saves the message (needs the scope write); without it the call is repeatable. The first call pins the
    conversation's blocks. If the saved message refuses that something is kept, the prompt is without it. If the budget
    (default 16,000 tokens) is exceeded, parts are dropped in this order: related memories, neighbours of recalled
    turns, recalled turns, recalled chunks, recalled memories, recalled facts, the oldest messages of the window, the
    last lines of the facts block, the least important lines of the memory block, the latest summary, the delta.
    Instructions and ``content`` are never dropped.

    ``before_index`` excludes messages from that index on. ``again``: a repetition, so disclosures are not logged.
    ``append`` saves the message.

    Raises NotFound, NotAllowed, Refused for a message that can't be saved, Gated (422 ``budget``) if instructions and
    ``content`` alone exceed the budget.
    """
    policy.must_read(principal)
    new = [NewMessage(Message.Role.USER, content)]
    if save:
        policy.must_write(principal)
        check_messages(new)
    conversation = find_conversation(principal, conversation_id)
    budget = settings.TURN_BUDGET_TOKENS if budget_tokens is None else budget_tokens
    upto = conversation.message_count if before_index is None else before_index
    instructions = instructions or DEFAULT_INSTRUCTIONS
    draft = gather(principal, conversation, content, instructions, upto=upto, budget=budget)
    turn = _render(principal, draft, format, fit(draft, budget))
    if not again and draft.pin is not None:
        conversation_pin(principal, conversation, draft.pin)
    refusals = refusals_of(append(principal, conversation.pk, new)) if save else []
    if refusals:
        # The prompt was loaded before the refusal was applied.
        principal = replace(principal, rev=Ledger.objects.get(pk=policy.must_act_for(principal)).rev)
        conversation = find_conversation(principal, conversation_id)
        draft = gather(principal, conversation, content, instructions, upto=upto, budget=budget)
        turn = replace(_render(principal, draft, format, fit(draft, budget)), refusals=refusals)
        if draft.pin is not None:
            conversation_pin(principal, conversation, draft.pin)
    if not again:
        recalled = [str(piece.id) for piece in (*draft.recalled.memories, *draft.recalled.related)]
        shown = tuple(dict.fromkeys((*draft.memory.ids, *draft.difference.ids)))
        memories_show(principal, Disclosure.By.TURN, shown, recalled=recalled, conversation_id=conversation.pk)
        if turn.recalled_again:
            recall_show(principal, By.TURN, conversation.pk, best=draft.recalled.best)
        if principal.has_memory and not conversation.private:
            turn = replace(turn, waiting=Candidate.objects.waiting_for(principal.user_id).count())
        if turn.delta is not None and may_pin(principal, conversation):
            conversation_set_told_rev(principal, conversation, turn.revision)
    return turn


def _render(principal: Principal, draft: Draft, format_name: str, tokens: int) -> PreparedTurn:
    stable = draft.stable
    if draft.memory.text:
        stable += "\n\n" + draft.memory.text
    if draft.facts:
        stable += "\n\n" + noted(FACTS_FENCE, FACTS_NOTE, draft.facts)
    below = [draft.difference.text] if draft.difference.lines else []
    below.append(draft.head)
    if draft.delta is not None:
        below.append(draft.delta)
    latest = [draft.latest_chunk] if draft.latest_chunk else []
    recalled = draft.recalled
    pieces = recalled.pieces
    if latest:
        below.append(noted(SUMMARY_FENCE, SUMMARY_NOTE, latest))
    if pieces:
        below.append(noted(RECALL_FENCE, RECALL_NOTE, pieces))
    rendered = rendering.render(format_name, stable, "\n\n".join(below), draft.window, draft.incoming)
    return PreparedTurn(
        format=format_name,
        system=rendered.system,
        text=rendered.text,
        messages=rendered.messages,
        used={
            "facts": _once(*_ids(draft.facts), *draft.changed_facts, *_ids(recalled.facts)),
            "memories": _once(
                *draft.memory.ids, *draft.difference.ids, *_ids(recalled.memories), *_ids(recalled.related)
            ),
            "chunks": _once(*_ids(latest), *_ids(recalled.chunks)),
            "turns": _once(*_ids(recalled.turns), *_ids(recalled.neighbours)),
        },
        dropped=draft.dropped,
        difference=draft.difference.text or None,
        delta=draft.delta,
        tokens=tokens,
        revision=principal.rev,
        recalled_again=recalled.again,
        extra=rendered.extra,
    )


def _ids(pieces: Iterable[Piece]) -> Iterable[UUID | str]:
    return (piece.id for piece in pieces)


def _once(*ids: UUID | str) -> list[str]:
    """Remove duplicate ids, keeping the order, and convert them to text."""
    return list(dict.fromkeys(map(str, ids)))
