"""Council mode: several models answer the same prompt, and the first successful one merges the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from django.conf import settings

from journal.exceptions import Refused
from language.base import ReplyRequest
from language.fencing import ANSWERS_FENCE, as_said, fenced


def council_of(asked: Sequence[str]) -> tuple[str, ...]:
    """Return the models of a council, by default all configured ones.

    Raises Refused (400): ``unknown_model``; ``no_council`` for fewer than two.
    """
    offered = settings.KEEPSAKE_COUNCIL_MODELS
    chosen = tuple(dict.fromkeys(asked or offered))
    unknown = [name for name in chosen if name not in offered]
    if unknown:
        raise Refused(f"The models of a council are {', '.join(offered) or 'none here'}.", code="unknown_model")
    if len(chosen) < 2:
        raise Refused("A council takes two models or more. KEEPSAKE_COUNCIL_MODELS names them.", code="no_council")
    return chosen


def merging(request: ReplyRequest, answers: Sequence[str]) -> ReplyRequest:
    """Return the request to merge the answers, appended to the last message. The prefix keeps its bytes."""
    told = fenced(ANSWERS_FENCE, [f"Answer {number}: {as_said(text)}" for number, text in enumerate(answers, start=1)])
    last = request.messages[-1]
    added = {"type": "text", "text": f"{told}\n\n{_prompt()}"}
    return replace(request, messages=[*request.messages[:-1], {**last, "content": [*_blocks(last), added]}])


def _blocks(message: Mapping[str, object]) -> list[object]:
    content = message["content"]
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]


@cache
def _prompt() -> str:
    return (Path(__file__).parent / "council.md").read_text(encoding="utf-8").strip()
