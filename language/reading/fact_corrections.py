"""What the person put right while they talked about a legacy, within one batch.

Only what was said in the talk just before is put right: facts that are stored are never replaced, but linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from language.base import FactCandidate, Utterance

from .compare import compare
from .corrections import Correction, corrections_in
from .second_tries import MESSAGES_BEFORE, SecondTry, answers_a_question, second_try
from .sentences import own_words


def without_corrected(facts: Sequence[FactCandidate], messages: Sequence[Utterance]) -> tuple[FactCandidate, ...]:
    """Return the facts with the person's corrections applied: "Actually, she was born in Linz."."""
    left, theirs = list(facts), [message for message in messages if message.role == "user"]
    for at, message in enumerate(theirs):
        said = own_words(message.content)
        tried, put_right = second_try(said), tuple(corrections_in(said))
        if (tried is None and not put_right) or (
            tried is not None and tried.denies and answers_a_question(messages, message)
        ):
            continue
        for index in [each.index for each in theirs[max(0, at - MESSAGES_BEFORE) : at]][::-1]:
            near = [fact for fact in left if fact.indices[-1] == index]
            own = [fact for fact in left if fact.indices[0] == message.index]
            over = [fact for fact in near if any(compare(fact.content, new.content) == "contradicts" for new in own)]
            applied = [(fact, _apply(tried, put_right, fact.content)) for fact in near] if not over else []
            meant = [(fact, content) for fact, content in applied if content]
            if len(meant) == 1:
                fact, content = meant[0]
                left[left.index(fact)] = replace(
                    fact, content=content, indices=(message.index,), quote=message.content.strip()
                )
                left = [each for each in left if each.indices != (message.index,) or each.content == content]
            left = [fact for fact in left if fact not in over]
            if over or meant:
                break
    return tuple(left)


def _apply(tried: SecondTry | None, put_right: Sequence[Correction], content: str) -> str | None:
    said = tried.apply_to(content) if tried is not None else None
    return said or next(filter(None, (each.apply_to(content) for each in put_right)), None)
