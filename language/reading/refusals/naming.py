"""Which statements a refusal names: "forget what I said about the rent"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..clauses import is_verb
from ..parse import parse
from .offers import asks_to_keep
from .subjects import SentenceWords, lemmas

DENIES = re.compile(r"\b(?:not|never|no)\b|n['’]t\b", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:and|or)\b")
_MOST_BESIDE = 1
"""The most additional words of a named statement: "tea" does not name "tea and coffee"."""
_QUESTION = re.compile(r"[^.!?\n]+\?")
_LEAST_REPEATED = 0.6
"""The share of a statement's content words that a question about it has: "a table in Porto?" asks about no home."""


def find_named(
    words: frozenset[str], told: Sequence[tuple[str, str]], *, whole: bool = False, denied: bool | None = None
) -> list[int]:
    """The indices of the statements that a refusal names; none if ambiguous, unless it refers to all.

    ``told`` are statements with their subjects. ``whole`` and ``denied`` are ``Refusal.covers_all`` and ``is_negated``.
    """
    found = []
    for place, (content, subject) in enumerate(told):
        # Who takes a clause back takes it wherever it stands: "I can't eat shellfish" also beside something else.
        parts = [content] if denied is None else list(dict.fromkeys([content, *_predicates(content)]))
        fits = [
            more for part in parts if (more := _named_in(part, subject, words, whole=whole, denied=denied)) is not None
        ]
        if fits:
            found.append((min(fits), place))
    nearest = [place for more, place in found if whole or more == min(found)[0]]
    return nearest if whole or len(nearest) == 1 else []


def _named_in(part: str, subject: str, words: frozenset[str], *, whole: bool, denied: bool | None) -> int | None:
    """The number of additional words of a statement or part of it; None if it is not named."""
    if denied is not None and denied != (DENIES.search(part) is not None):
        return None
    more = 0 if words and words == lemmas(subject) else count_extra_words(part, words)
    fits = more is not None and (whole or not more or (more <= _MOST_BESIDE and not _SEVERAL.search(part)))
    return more if fits else None


def _predicates(content: str) -> Iterator[str]:
    """The clauses of a statement with coordinated verbs: "can't eat fish", "learns Portuguese"."""
    parsed = parse(content)
    if parsed is None:
        return
    verbs = [word for word in parsed.words if is_verb(word) and (word.head == word.index or word.dep == "conj")]
    for verb in verbs if len(verbs) > 1 else ():
        others = [each for each in verbs if each is not verb]
        apart = {one.index for each in others if each.head == verb.index for one in parsed.subtree(each)}
        yield " ".join(one.text for one in parsed.subtree(verb) if one.index not in apart and one.dep != "cc")


def restates(content: str, said: Iterable[str]) -> bool:
    """Whether a statement repeats one of these sentences: at least two common words, most of its own, of the same."""
    words = lemmas(content)
    shared = ((len(words & lemmas(each)), each) for each in said)
    likely = [each for count, each in shared if count >= 2 and count >= 0.6 * len(words)]
    return any(not SentenceWords.of(each).is_about_others_than(SentenceWords.of(content)) for each in likely)


def asks_about(question: str, said: str) -> bool:
    """Whether an assistant's text asks to remember something, or one of its questions repeats what was ``said``."""
    if asks_to_keep(question):
        return True
    asked = _QUESTION.findall(question)
    words = lemmas(said) if asked else frozenset()
    return any(len(words & lemmas(each)) >= _LEAST_REPEATED * len(words) for each in asked if words)


def count_extra_words(content: str, named: frozenset[str]) -> int | None:
    """The number of content words of a statement besides the naming ones; None unless it has all of those."""
    words = lemmas(content)
    return len(words - named) if named and named <= words else None
