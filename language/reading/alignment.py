"""Word alignment of two statements, and the features computed from it.

``figures_of`` returns the features that ``sameness`` weighs; ``differences`` has the rules that keep two apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .content import Content
from .lexicon import ALIKE, relation
from .related import Part, Token, related
from .words import listed

_SURE = 0.9
_COUNTED: Sequence[Part] = ("noun", "verb", "adjective", "adverb", "name")
_KINDS = ("synonym", "derived", "near", "loose", "kind")
_CLASHES = ("sibling", "opposite", "class", "names")
_QUALIFIERS = listed("half most least almost or more less first former last next new old left right other")
_SMALL = listed("first last next new old left right other late present current used most less more main")


@dataclass(frozen=True)
class Alignment:
    """Two statements and a one-to-one alignment of their words."""

    one: Content
    other: Content

    @cached_property
    def _pairs(self) -> list[tuple[float, int, int, str]]:
        """Candidate pairs, best first: similarity, the two positions, and the relation."""
        first, second = self.one.words, self.other.words
        found = []
        for at, word in enumerate(first):
            for its, another in enumerate(second):
                how = related(word, another)
                if how in ALIKE:
                    apart = abs(at / len(first) - its / len(second))
                    found.append((-ALIKE[how], apart, at, its, how))
        return [(-less, at, its, how) for less, _, at, its, how in sorted(found)]

    @cached_property
    def together(self) -> dict[int, tuple[int, str]]:
        """The aligned position in the other statement and the relation, by position in the first."""
        found: dict[int, tuple[int, str]] = {}
        taken: set[int] = set()
        for _, at, its, how in self._pairs:
            if at not in found and its not in taken:
                found[at] = its, how
                taken.add(its)
        return found

    @cached_property
    def _aligned_back(self) -> dict[int, int]:
        return {its: at for at, (its, _) in self.together.items()}

    @cached_property
    def alone(self) -> tuple[list[int], list[int]]:
        """The positions of unaligned words of each that are not repetitions of an aligned word."""
        sure = [(at, its) for much, at, its, _ in self._pairs if much >= _SURE]
        said, also = {at for at, _ in sure} | self.together.keys(), {its for _, its in sure} | self._aligned_back.keys()
        return (
            [at for at in range(len(self.one.words)) if at not in said],
            [at for at in range(len(self.other.words)) if at not in also],
        )

    @cached_property
    def left(self) -> tuple[list[Token], list[Token]]:
        """The tokens at those positions."""
        return [self.one.words[at] for at in self.alone[0]], [self.other.words[at] for at in self.alone[1]]

    @cached_property
    def weights(self) -> tuple[float, float]:
        """The total weight of unaligned words of each."""
        one, other = (sum(word.weight for word in words) for words in self.left)
        return one, other

    @cached_property
    def order(self) -> float:
        """The share of aligned word pairs with the same order in both."""
        places = [self.together[at][0] for at in sorted(self.together)]
        pairs = [(each, later) for at, each in enumerate(places) for later in places[at + 1 :]]
        return sum(each < later for each, later in pairs) / len(pairs) if pairs else 1.0

    @property
    def in_order(self) -> bool:
        """Whether the alignment is monotonic."""
        return self.order == 1.0

    @property
    def is_all(self) -> bool:
        """Whether every word is aligned."""
        return not any(self.alone)

    @cached_property
    def slots(self) -> list[tuple[Token, Token, bool]]:
        """Unaligned words in the same position; True if their neighbours on both sides are aligned, not just one."""
        return list(self._slots())

    def _slots(self) -> Iterator[tuple[Token, Token, bool]]:
        first, second = self.one.words, self.other.words
        for at in (at for at in range(len(first)) if at not in self.together):
            for its in (its for its in range(len(second)) if its not in self._aligned_back):
                left = self._is_aligned(at - 1, its - 1) if at and its else at == its == 0
                is_last = at + 1 == len(first), its + 1 == len(second)
                right = all(is_last) if any(is_last) else self._is_aligned(at + 1, its + 1)
                if left or right:
                    yield first[at], second[its], left and right

    def _is_aligned(self, at: int, its: int) -> bool:
        return at in self.together and self.together[at][0] == its

    @cached_property
    def clashes(self) -> list[tuple[Token, Token, str]]:
        """Unaligned word pairs that are antonyms, co-hyponyms, of one class, or two names."""
        pairs = ((word, another, related(word, another)) for word in self.left[0] for another in self.left[1])
        return [(word, another, how) for word, another, how in pairs if how in _CLASHES]

    @cached_property
    def opposites(self) -> bool:
        """Whether two unaligned words are antonyms."""
        first = [word for at, word in enumerate(self.one.words) if at not in self.together]
        second = [word for at, word in enumerate(self.other.words) if at not in self._aligned_back]
        return any(related(word, another) == "opposite" for word in first for another in second)

    @property
    def is_denied_otherwise(self) -> bool:
        """Whether the polarity differs."""
        return self.one.denials % 2 != self.other.denials % 2

    @property
    def is_denial_implied(self) -> bool:
        """Whether the one without the negation has a word that may imply it."""
        plain = self.one if self.other.denials > self.one.denials else self.other
        return plain.implied > 0

    @cached_property
    def names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of each that the other lacks; "Ghanaian" counts as "Ghana"."""
        one, other = self.one.names, self.other.names
        return _missing_names(one, other, self.other.text), _missing_names(other, one, self.one.text)

    @cached_property
    def kin(self) -> tuple[list[str], list[str]]:
        """The kinship nouns of each that the other lacks in any form."""
        return _missing_kin(self.one, self.other), _missing_kin(self.other, self.one)

    @property
    def is_same_subject(self) -> bool:
        """Whether the subjects are equal."""
        return self.one.subject == self.other.subject != ""

    @cached_property
    def verbs_left(self) -> int:
        """How many of the two main verbs are unaligned."""
        roots = [each.root.index if each.root is not None else -1 for each in (self.one, self.other)]
        return sum(any(word.index == root for word in words) for root, words in zip(roots, self.left, strict=True))

    @cached_property
    def _roles(self) -> list[tuple[str, str]]:
        """The roles of each aligned pair, and of the user, in the two statements."""
        first, second = self.one, self.other
        places = [(first.words[at].index, second.words[its].index) for at, (its, _) in self.together.items()]
        users = [next((token.index for token in each.tokens if token.low == "user"), -1) for each in (first, second)]
        both = [(first.roles.get(at, ""), second.roles.get(its, "")) for at, its in (*places, (users[0], users[1]))]
        return [(role, its) for role, its in both if role and its]

    @property
    def is_swapped(self) -> bool:
        """Whether two words have exchanged roles: "from banking into teaching", "from teaching into banking"."""
        if self.one.is_passive != self.other.is_passive or not self.is_same_verb:
            return False
        turned = {pair for pair in self._roles if pair[0] != pair[1]}
        if self.one.verb == "be":
            turned = {pair for pair in turned if "object" not in pair}
        return any((its, role) in turned for role, its in turned)

    @property
    def is_reversed(self) -> bool:
        """Whether the same words are in reverse order: "the dog bit Tom" and "Tom bit the dog"."""
        places = [its for _, (its, _) in sorted(self.together.items())]
        is_passive = self.one.is_passive or self.other.is_passive
        return self.is_all and len(places) > 2 and not is_passive and places == sorted(places, reverse=True)

    @property
    def is_done_to_one(self) -> bool:
        """Whether one has the agent noun and the other the patient noun: "a trainer" and "a trainee"."""
        ends = [{(word.lemma[:-2], word.lemma[-2:]) for word in each.words} for each in (self.one, self.other)]
        doing = [{stem for stem, end in each if end in {"er", "or"}} for each in ends]
        done = [{stem for stem, end in each if end == "ee"} for each in ends]
        return bool(doing[0] & done[1] or doing[1] & done[0])

    @property
    def is_same_verb(self) -> bool:
        """Whether the main verbs are equal."""
        return self.one.verb == self.other.verb


def _missing_names(names: frozenset[str], others: frozenset[str], text: str) -> frozenset[str]:
    low = text.lower()
    return frozenset(
        name
        for name in names - others
        if name not in low and not any(relation(name, other) == "derived" for other in others)
    )


def _missing_kin(one: Content, other: Content) -> list[str]:
    return [
        kin
        for kin in sorted(one.kin - other.kin)
        if not any(relation(kin, word.lemma) in ALIKE and not word.is_kin for word in other.words)
        and not any(relation(kin, each) in {"synonym", "derived"} for each in other.kin)
    ]


def figures_of(pair: Alignment) -> dict[str, float]:
    """The features for and against two statements being the same, symmetric in both."""
    one, other = pair.one, pair.other
    found: dict[str, float] = {}
    left, total = pair.weights, [sum(word.weight for word in each.words) or 1.0 for each in (one, other)]
    shares = left[0] / total[0], left[1] / total[1]
    found |= {"left_min": min(left), "left_max": max(left), "share_min": min(shares), "share_max": max(shares)}
    lengths = len(one.words), len(other.words)
    found |= {"words_min": min(lengths), "words_apart": abs(lengths[0] - lengths[1])}
    for part in _COUNTED:
        counts = [sum(word.part == part for word in words) for words in pair.left]
        found |= {f"{part}_min": min(counts), f"{part}_max": max(counts)}
    kinds = [how for _, how in pair.together.values()]
    found |= {kind: kinds.count(kind) for kind in ("same", *_KINDS)}
    found["covered"] = kinds.count("same") / max(1, min(lengths))
    found |= {"order": pair.order, "in_order": pair.in_order}
    found["slots"] = sum(is_both for _, _, is_both in pair.slots)
    found["half_slots"] = len(pair.slots) - found["slots"]
    clashes = [how for _, _, how in pair.clashes]
    found |= {f"clash_{clash}": min(2, clashes.count(clash)) for clash in _CLASHES}
    unlike = [related(word, another) not in ALIKE for word, another, is_both in pair.slots if is_both]
    found["unlike_slots"] = sum(unlike) * pair.in_order
    only = len(pair.alone[0]), len(pair.alone[1])
    found["replaced"] = pair.in_order and only == (1, 1) and found["slots"] >= 1
    found["added"] = pair.in_order and min(only) == 0 < max(only)
    found |= {"all": pair.is_all, "all_in_order": pair.is_all and pair.in_order}
    found["denied"] = pair.is_denied_otherwise
    found["both_denied"] = min(one.denials, other.denials)
    found["implied"] = pair.is_denied_otherwise and pair.is_denial_implied
    found["implied_apart"] = abs(one.implied - other.implied)
    found["figures"] = bool(one.figures) and one.figures == other.figures
    found["names"] = len(one.names & other.names)
    found["days"] = bool(one.days) and one.days == other.days
    found["units"] = one.units != other.units
    kin = [len(each) for each in pair.kin]
    found |= {"kin_min": min(kin), "kin_max": max(kin), "kin": len(one.kin & other.kin)}
    lows = one.lows ^ other.lows
    found |= {"qualified": not lows.isdisjoint(_QUALIFIERS), "qualified_small": not lows.isdisjoint(_SMALL)}
    found["wish"] = one.is_wish != other.is_wish
    found |= {"past": one.is_past != other.is_past, "has_past": one.has_past != other.has_past}
    found["perfect"] = one.is_perfect != other.is_perfect
    found["passive"] = one.is_passive != other.is_passive
    found |= {"same_subject": pair.is_same_subject, "same_verb": pair.is_same_verb}
    found |= {"verbs_left": pair.verbs_left, "any_verb_left": pair.verbs_left > 0}
    plain_verb = one.verb not in {"be", "have", ""}
    is_voice_same = one.is_passive == other.is_passive
    found["turned"] = pair.is_same_verb and plain_verb and not pair.is_same_subject and is_voice_same
    found["turned_all"] = found["turned"] and pair.is_all and not pair.in_order
    found["opposite_subject"] = pair.is_same_subject and found["clash_opposite"] > 0
    starts = [each.plain.lower().find("user") > len("The user") - 3 for each in (one, other)]
    found["user_later"] = starts[0] != starts[1]
    return {name: float(value) for name, value in found.items()}
