"""Shortens a turn to its token budget."""

from __future__ import annotations

from typing import Any

from conversations.models import Message
from conversations.searching import TurnRow
from journal.exceptions import Gated
from language.fencing import FACTS_FENCE, RECALL_FENCE, SUMMARY_FENCE, as_said, who_said
from language.tokens import count_tokens
from memories.block import cut_block
from memories.difference import Difference
from retrieval.budget import pack

from . import rendering
from .gathering import PER_MESSAGE
from .pieces import FACTS_NOTE, RECALL_NOTE, SUMMARY_NOTE, Draft, Piece, noted


def fit(draft: Draft, budget: int) -> int:
    """Drop what exceeds the budget, least important first. Returns the tokens of the rest.

    Once something is dropped, nothing less important is included.
    """
    around = [noted(FACTS_FENCE, FACTS_NOTE, []), noted(SUMMARY_FENCE, SUMMARY_NOTE, [])]
    around += [noted(RECALL_FENCE, RECALL_NOTE, []), rendering.OPENING, draft.stable, draft.head]
    around.append(as_said(draft.incoming))
    fixed = sum(count_tokens(text) + PER_MESSAGE for text in around)
    if draft.delta is not None:
        told = count_tokens(draft.delta) + PER_MESSAGE
        if fixed + told > budget:
            draft.delta = None
            draft.dropped.append({"kind": "delta"})
        else:
            fixed += told
    if fixed > budget:
        raise Gated(
            f"Instructions and message need {fixed} tokens; the budget is {budget}.", code="budget", needed=fixed
        )
    left = budget - fixed
    gone: dict[str, list[dict[str, Any]]] = {}
    latest = pack([draft.latest_chunk] if draft.latest_chunk else [], left, _tokens)
    left = 0 if latest.dropped else left - latest.tokens
    draft.latest_chunk = latest.kept[0] if latest.kept else None
    gone["latest"] = [_name(piece) for piece in latest.dropped]
    changed = _fit_difference(draft, left)
    fixed += changed
    left -= changed
    draft.memory, forgotten, places = cut_block(draft.memory, max(0, left - PER_MESSAGE))
    gone["block"] = [{"kind": "places", "count": places}] if places else []
    gone["block"] += [{"kind": "memories", "id": memory_id} for memory_id in forgotten]
    block_tokens = draft.memory.tokens + PER_MESSAGE if draft.memory.text else 0
    left = 0 if gone["block"] else left - block_tokens
    kept, left = _from_the_start(draft.facts, left)
    gone["facts"] = [_name(piece) for piece in reversed(draft.facts[len(kept) :])]
    draft.facts = kept
    said = [_piece_of(message) for message in reversed(draft.window)]
    newest, left = _from_the_start(said, left)
    gone["messages"] = [_name(piece) for piece in reversed(said[len(newest) :])]
    if draft.left_out:
        gone["messages"].insert(0, {"kind": "messages", "count": draft.left_out})
        left = 0
    draft.window = draft.window[len(said) - len(newest) :]
    recalled: list[dict[str, Any]] = []
    for kind in ("facts", "memories", "chunks", "turns", "neighbours", "related"):
        packed = pack(getattr(draft.recalled, kind), left, _tokens)
        left = 0 if packed.dropped else left - packed.tokens
        setattr(draft.recalled, kind, packed.kept)
        recalled = [*(_name(piece) for piece in reversed(packed.dropped)), *recalled]
    draft.dropped += recalled
    for kind in ("messages", "facts", "block", "latest"):
        draft.dropped += gone[kind]
    pieces = [*draft.facts, *latest.kept, *newest, *draft.recalled.pieces]
    return fixed + block_tokens + sum(piece.tokens for piece in pieces)


def _fit_difference(draft: Draft, left: int) -> int:
    """Return the tokens of the difference; 0 if the current blocks replace the pinned ones."""
    if not draft.difference.lines:
        return 0
    changed = count_tokens(draft.difference.text) + PER_MESSAGE
    pinned = draft.memory.tokens + PER_MESSAGE + sum(piece.tokens for piece in draft.facts)
    if changed + pinned <= left:
        return changed
    # Never cut in parts: a pinned line could lose the line that overrides it.
    draft.memory, draft.facts = draft.present()
    draft.difference, draft.changed_facts = Difference(), []
    return 0


def _from_the_start(pieces: list[Piece], left: int) -> tuple[list[Piece], int]:
    """Return the leading pieces that fit, and the remaining budget (0 if one did not fit)."""
    kept: list[Piece] = []
    for piece in pieces:
        if piece.tokens > left:
            return kept, 0
        kept.append(piece)
        left -= piece.tokens
    return kept, left


def _piece_of(message: TurnRow) -> Piece:
    """Return a message of the window with its rendered tokens; those of plain text are stored."""
    tokens, shown = message.tokens, as_said(message.content)
    if message.role not in {Message.Role.USER, Message.Role.ASSISTANT}:
        tokens = count_tokens(rendering.as_note(message.role, message.content))
    elif shown != message.content:
        tokens = count_tokens(shown)
    tokens += len(message.content.splitlines())  # Plain text indents continuation lines.
    tokens += count_tokens(who_said(message.role, message.speaker))
    return Piece("messages", message.pk, "", tokens + PER_MESSAGE)


def _tokens(piece: Piece) -> int:
    return piece.tokens


def _name(piece: Piece) -> dict[str, Any]:
    return {"kind": piece.kind, "id": str(piece.id)}
