"""The verb of a clause: its base form, its auxiliaries, and what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.lexicon import verbs
from language.offline.lexicon.words import ADVERBS, AUXILIARIES, DETERMINERS, MODALS, listed
from language.offline.tokens import Token

_BE = listed("am is are was were be been being")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A clause's verb: ``lemma`` with its auxiliaries and adverbs, and ``rest``, the words after it.

    ``tense`` is "past", "present" or "would" (what used to happen or might).
    """

    lemma: str
    tense: str
    negated: bool
    perfect: bool
    auxiliaries: tuple[str, ...]
    adverbs: frozenset[str]
    verb: int
    rest: tuple[Token, ...]

    @property
    def after(self) -> str:
        """The words after the verb in lower case, signs as words of their own."""
        return " ".join(token.low for token in self.rest)


def read_predicate(tokens: Sequence[Token], start: int) -> Predicate | None:
    """Read the verb that begins at ``start``, with its auxiliaries and adverbs; None if there is no verb."""
    auxiliaries: list[str] = []
    adverbs: set[str] = set()
    negated = False
    position = start
    last_auxiliary = -1
    while position < len(tokens):
        low = tokens[position].low
        following = tokens[position + 1].low if position + 1 < len(tokens) else ""
        if low == "not":
            negated = True
        elif low == "used" and following == "to":
            auxiliaries.append("used to")
            position += 1
        elif low in AUXILIARIES:
            auxiliaries.append(low)
            last_auxiliary = position
        elif low in ADVERBS and not _adverb_is_rest(tokens, position, auxiliaries):
            adverbs.add(low)
        else:
            break
        position += 1
    verb, lemma = _main_verb(tokens, position, auxiliaries, last_auxiliary)
    if not lemma:
        return None
    negated = negated or "never" in adverbs
    first = auxiliaries[0] if auxiliaries else tokens[verb].low
    perfect = (
        len(auxiliaries) > 0
        and auxiliaries[0] in {"has", "have", "had"}
        and (verb != last_auxiliary or len(auxiliaries) > 1)
    )
    return Predicate(
        lemma,
        _tense(first, auxiliaries),
        negated,
        perfect,
        tuple(auxiliaries),
        frozenset(adverbs),
        verb,
        tuple(tokens[verb + 1 if verb != last_auxiliary else max(verb + 1, position) :]),
    )


def _adverb_is_rest(tokens: Sequence[Token], position: int, auxiliaries: Sequence[str]) -> bool:
    """Whether an adverb after "was" opens what follows ("was very kind") rather than stands before a verb."""
    if not auxiliaries or auxiliaries[-1] not in _BE | {"has", "have", "had"}:
        return False
    return tokens[position].low in {"so", "very", "pretty", "quite", "all", "both", "almost", "nearly", "only", "first"}


def _main_verb(  # noqa: PLR0911
    tokens: Sequence[Token], position: int, auxiliaries: Sequence[str], last_auxiliary: int
) -> tuple[int, str]:
    low = tokens[position].low if position < len(tokens) else ""
    form = verbs.verb_form(low)
    last = auxiliaries[-1] if auxiliaries else ""
    if last in _BE:
        return last_auxiliary, "be"
    if last in {"have", "has", "had"}:
        participle = form is not None and bool(form.kinds & {"part", "past"}) and (
            "base" not in form.kinds or low in {"run", "come", "become", "read", "put"}
        )  # fmt: skip
        if low == "got" and last != "had":
            return position, "have"
        return (position, form.lemma) if participle and form else (last_auxiliary, "have")
    if last in {"do", "does", "did"} and (form is None or "base" not in form.kinds):
        return last_auxiliary, "do"
    if form is not None and form.kinds & {"base", "s", "past"} and low not in DETERMINERS:
        return position, form.lemma
    if last in MODALS or last == "used to":
        return (position, low) if low.isalpha() else (-1, "")
    return -1, ""


def _tense(first: str, auxiliaries: Sequence[str]) -> str:
    if "used to" in auxiliaries or first in {"was", "were", "had", "did", "could"}:
        return "past"
    if first in {"would", "might", "may", "must", "should", "shall"}:
        return "would"
    if first == "will":
        return "future"
    return "past" if verbs.is_past(first) else "present"
