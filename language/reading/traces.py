"""Comparison of a statement with one whose text is gone, of which keyed hashes of its words were kept.

The hashes show which words the two share. Related words ("firearm" for "gun") are found by hashing those that are
related to a word of the statement whose text is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from .content import Content
from .lexicon import ALIKE, Relation, alike_words
from .related import Token, form_of

Hasher = Callable[[str], str]
"""Returns the hash of a word as eight hex digits."""

_KINDS = {"noun": "n", "verb": "v", "adjective": "a", "adverb": "r", "name": "N", "figure": "f"}
_KIN, _OTHER, _SUBJECT, _VERB, _NEGATION, _OF_USER = "ko=!-@"
_UNRELATED = {"N", "f"}
"""The kinds of words that only an equal one matches: names and figures."""
_COUNTED = "nvark"
_OF_KIN = frozenset({"synonym", "derived"})
_BEGINNING = len("The user")


@dataclass(frozen=True, slots=True)
class Traces:
    """What is kept of a statement.

    ``words`` are its content words in order, each the letter of its kind and a hash. ``subject`` and ``verb`` are
    hashes of its subject and main verb, ``negations`` is how many words negate it, ``of_user`` whether it begins with
    the user.
    """

    words: tuple[tuple[str, str], ...]
    subject: str
    verb: str
    negations: int
    of_user: bool

    @classmethod
    def of(cls, statement: Content, hashed: Hasher) -> Traces:
        """Hash a statement. It takes a parse, so about 20 ms."""
        words = tuple((_kind_of(token), hashed(_form_of(token))) for token in statement.content_words)
        of_user = 0 <= statement.normalised.lower().find("user") < _BEGINNING
        subject = hashed(statement.subject) if statement.subject else ""
        return cls(words, subject, hashed(form_of(statement.verb)), statement.negations, of_user)

    @classmethod
    def parse(cls, stored: str) -> Traces:
        """Read what ``str`` made."""
        items = [(item[0], item[1:]) for item in stored.split()]
        marks = dict(items)
        words = tuple(item for item in items if item[0] not in {_SUBJECT, _VERB, _NEGATION, _OF_USER})
        negations = sum(mark == _NEGATION for mark, _ in items)
        return cls(words, marks.get(_SUBJECT, ""), marks[_VERB], negations, _OF_USER in marks)

    def __str__(self) -> str:
        subject = f" {_SUBJECT}{self.subject}" if self.subject else ""
        flags = f" {_NEGATION}" * self.negations + f" {_OF_USER}" * self.of_user
        return f"{' '.join(kind + word for kind, word in self.words)} {_VERB}{self.verb}{subject}{flags}".strip()


def traced_features(kept: Traces, said: Content, hashed: Hasher) -> Mapping[str, float]:
    """Compare a statement with what is kept of another, by the hasher that made it. Returns features for a model."""
    own = Traces.of(said, hashed)
    matched = _matched(kept, said, own, hashed)
    kinds = Counter(matched.values())
    known = {kept.words[index][1] for index, _ in matched}
    own_known = {own.words[index][1] for _, index in matched}
    only_kept = [word for word in kept.words if word[1] not in known]
    only_said = [word for word in own.words if word[1] not in own_known]
    found: dict[str, float] = {kind: kinds[kind] for kind in ("same", "synonym", "derived", "near")}
    for kind in _COUNTED:
        counts = [sum(letter == kind for letter, _ in words) for words in (only_kept, only_said)]
        found |= {f"{kind}_kept": counts[0], f"{kind}_said": counts[1], f"{kind}_min": min(counts)}
    for kind in sorted(_UNRELATED):
        ours, theirs = ({word for letter, word in each.words if letter == kind} for each in (kept, own))
        missing = ours - {word for _, word in own.words}, theirs - {word for _, word in kept.words}
        found |= {f"{kind}_kept": len(missing[0]), f"{kind}_said": len(missing[1]), f"{kind}_both": all(missing)}
        found[f"{kind}_shared"] = len(ours & theirs)
    lengths = len(kept.words), len(own.words)
    shorter, longer = max(1, min(lengths)), max(1, *lengths)
    found |= {"covered": kinds["same"] / shorter, "all": len(matched) / longer, "any": len(matched) / shorter}
    found |= {"length": shorter, "longer_by": abs(lengths[0] - lengths[1])}
    found |= {"left_min": min(len(only_kept), len(only_said)), "left_max": max(len(only_kept), len(only_said))}
    found["in_order"] = _order_agreement(matched)
    found["denied"] = kept.negations % 2 != own.negations % 2
    found["both_denied"] = min(kept.negations, own.negations)
    found["same_subject"] = kept.subject == own.subject != ""
    found["same_verb"] = kept.verb == own.verb
    found["of_user"] = kept.of_user != own.of_user
    return {name: float(value) for name, value in found.items()}


def _matched(kept: Traces, said: Content, own: Traces, hashed: Hasher) -> dict[tuple[int, int], str]:
    """Match words one to one, the closest first: the relation by the two indices."""
    places: dict[str, list[int]] = {}
    for index, (_, word) in enumerate(kept.words):
        places.setdefault(word, []).append(index)
    candidates = []
    for index, (token, (kind, word)) in enumerate(zip(said.content_words, own.words, strict=True)):
        related: dict[str, Relation] = {word: "same"}
        if kind not in _UNRELATED:
            for form, relation in _related_forms(token.lemma).items():
                if kind != _KIN or relation in _OF_KIN:
                    related.setdefault(hashed(form), relation)
        for other, relation in related.items():
            candidates += [
                (-ALIKE[relation], index, at, relation)
                for at in places.get(other, ())
                if relation == "same" or kept.words[at][0] not in _UNRELATED
            ]
    found: dict[tuple[int, int], str] = {}
    for _, index, at, relation in sorted(candidates):
        if all(at != taken and index != its for taken, its in found):
            found[at, index] = relation
    return found


def _order_agreement(matched: Iterable[tuple[int, int]]) -> float:
    """The share of pairs of matched words that have the same order in both statements."""
    pairs = list(combinations([index for _, index in sorted(matched)], 2))
    return sum(earlier < later for earlier, later in pairs) / len(pairs) if pairs else 1.0


def _kind_of(token: Token) -> str:
    return _KIN if token.is_kin else _KINDS.get(token.part, _OTHER)


def _form_of(token: Token) -> str:
    """The form of a word that is hashed, the same for its inflections and spellings."""
    if token.is_kin:
        return token.lemma
    if token.part == "name":
        return token.low.rstrip("s")
    return token.low.removesuffix(":00") if token.part == "figure" else form_of(token.lemma)


@lru_cache(maxsize=5_000)
def _related_forms(lemma: str) -> Mapping[str, Relation]:
    """The forms of words that are related to a word, each with the closest relation."""
    found: dict[str, Relation] = {}
    for word, relation in sorted(alike_words(lemma).items(), key=lambda each: -ALIKE[each[1]]):
        found.setdefault(form_of(word), relation)
    return found
