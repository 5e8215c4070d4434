"""What the person puts right while they talk about a legacy.

Only what was said in the talk just before, or was just told, is put right; other facts that are stored are linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from language.base import FactCandidate, Utterance

from .compare import compare
from .corrections import Correction, corrections_in
from .leaving_out import left_out, without
from .second_tries import MESSAGES_BEFORE, SecondTry, answers_a_question, second_try
from .sentences import own_words


@dataclass(frozen=True, slots=True)
class FactCorrection:
    """What a message puts right of a fact that was told before: another value, or one of several things less."""

    tried: SecondTry | None
    put_right: Sequence[Correction]
    left_out: str

    @classmethod
    def of(cls, said: str, *, answers: bool) -> FactCorrection | None:
        """Return the correction in a message, or None. ``answers``: it follows a question."""
        tried, put_right, taken_back = second_try(said), tuple(corrections_in(said)), left_out(said)
        if answers and (taken_back or (tried is not None and tried.denies)):
            return None
        return cls(tried, put_right, taken_back) if tried is not None or put_right or taken_back else None

    def apply_to(self, content: str) -> str | None:
        """Return the fact as it is now; None if it is not meant, or it is unclear how."""
        said = self.tried.apply_to(content) if self.tried is not None else None
        said = said or next(filter(None, (each.apply_to(content) for each in self.put_right)), None)
        return said or (without(content, self.left_out) if self.left_out else None)


def without_corrected(facts: Sequence[FactCandidate], messages: Sequence[Utterance]) -> tuple[FactCandidate, ...]:
    """Return the facts with the person's corrections applied: "Actually, she was born in Linz."."""
    left, theirs = list(facts), [message for message in messages if message.role == "user"]
    for at, message in enumerate(theirs):
        correction = FactCorrection.of(own_words(message.content), answers=answers_a_question(messages, message))
        if correction is None:
            continue
        for index in [each.index for each in theirs[max(0, at - MESSAGES_BEFORE) : at]][::-1]:
            near = [fact for fact in left if fact.indices[-1] == index]
            own = [fact for fact in left if fact.indices[0] == message.index]
            over = [fact for fact in near if any(compare(fact.content, new.content) == "contradicts" for new in own)]
            applied = [(fact, correction.apply_to(fact.content)) for fact in near] if not over else []
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
