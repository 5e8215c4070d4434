"""Word alignment of two statements, and the features computed from it.

``features_of`` returns the features that ``sameness`` weighs; ``differences`` has the rules that keep two apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from .content import NEGATIONS, Content
from .lexicon import ALIKE, relation
from .related import Part, Token, related
from .words import listed

_SURE = 0.9
_COUNTED: Sequence[Part] = ("noun", "verb", "adjective", "adverb", "name")
_KINDS = ("synonym", "derived", "near", "loose", "kind")
_CLASHES = ("sibling", "opposite", "class", "names")
_QUALIFIERS = listed("half most least almost or more less first former last next new old left right other")
_ARTICLES = listed("a an the of 's")
_UNCOUNTED = NEGATIONS | listed("a an the of do does did n't any")
_NEAR, _NEAR_IN_ONE_PLACE = 0.6, 0.5
"""From this share of common words on, two statements are near each other."""
_SHORT_NAME = 4
"""Names of more letters are the same in the plural: "the Scouts", "a Scout"."""
_SMALL = listed("first last next new old left right other late present current used most less more main")


@dataclass(frozen=True)
class Alignment:
    """Two statements and a one-to-one alignment of their content words."""

    first: Content
    second: Content

    @cached_property
    def _candidates(self) -> list[tuple[float, int, int, str]]:
        """Candidate pairs, best first: similarity, the two indices, and the relation."""
        first, second = self.first.content_words, self.second.content_words
        found = []
        for index, word in enumerate(first):
            for other_index, another in enumerate(second):
                kind = related(word, another)
                if kind in ALIKE:
                    distance = abs(index / len(first) - other_index / len(second))
                    found.append((-ALIKE[kind], distance, index, other_index, kind))
        return [(-less, index, other_index, kind) for less, _, index, other_index, kind in sorted(found)]

    @cached_property
    def aligned(self) -> dict[int, tuple[int, str]]:
        """The aligned index in the second statement and the relation, by index in the first."""
        found: dict[int, tuple[int, str]] = {}
        taken: set[int] = set()
        for _, index, other_index, kind in self._candidates:
            if index not in found and other_index not in taken:
                found[index] = other_index, kind
                taken.add(other_index)
        return found

    @property
    def aligned_words(self) -> Iterator[tuple[Token, Token, str]]:
        """The aligned words of both, and their relation."""
        for index, (other_index, kind) in self.aligned.items():
            yield self.first.content_words[index], self.second.content_words[other_index], kind

    @cached_property
    def _aligned_back(self) -> dict[int, int]:
        return {other_index: index for index, (other_index, _) in self.aligned.items()}

    @cached_property
    def unaligned_indices(self) -> tuple[list[int], list[int]]:
        """The indices of unaligned words of each that are not repetitions of an aligned word."""
        certain = [
            (index, other_index) for similarity, index, other_index, _ in self._candidates if similarity >= _SURE
        ]
        first_known, second_known = (
            {index for index, _ in certain} | self.aligned.keys(),
            {other_index for _, other_index in certain} | self._aligned_back.keys(),
        )
        return (
            [index for index in range(len(self.first.content_words)) if index not in first_known],
            [index for index in range(len(self.second.content_words)) if index not in second_known],
        )

    @cached_property
    def unaligned(self) -> tuple[list[Token], list[Token]]:
        """The tokens at those indices."""
        return [self.first.content_words[index] for index in self.unaligned_indices[0]], [
            self.second.content_words[index] for index in self.unaligned_indices[1]
        ]

    @cached_property
    def unaligned_weights(self) -> tuple[float, float]:
        """The total weight of unaligned words of each."""
        first, second = (sum(word.weight for word in words) for words in self.unaligned)
        return first, second

    @cached_property
    def shared(self) -> float:
        """The share of the longer one's words that the other has too, negations aside, from 0 to 1."""
        first, second = (
            Counter(word.lemma for word in each.tokens if word.low not in _UNCOUNTED)
            for each in (self.first, self.second)
        )
        return (first & second).total() / max(1, first.total(), second.total())

    @cached_property
    def is_near(self) -> bool:
        """Whether nearly all words are shared, or all but those in one place."""
        return self.shared >= _NEAR or (self.shared >= _NEAR_IN_ONE_PLACE and self.differs_in_one_place)

    @property
    def differs_in_one_place(self) -> bool:
        """Whether the two have the same words in the same order, but for one place."""
        return len(self.changed_places) == 1

    @cached_property
    def changed_places(self) -> list[tuple[list[Token], list[Token]]]:
        """Where the two, articles aside, have other words: those of each."""
        first, second = (
            [word for word in each.tokens if word.low not in _ARTICLES] for each in (self.first, self.second)
        )
        changes = SequenceMatcher(None, [word.low for word in first], [word.low for word in second], autojunk=False)
        return [
            (first[start:end], second[its:to]) for kind, start, end, its, to in changes.get_opcodes() if kind != "equal"
        ]

    @cached_property
    def order_agreement(self) -> float:
        """The share of aligned word pairs with the same order in both."""
        indices = [self.aligned[index][0] for index in sorted(self.aligned)]
        pairs = [(earlier, later) for index, earlier in enumerate(indices) for later in indices[index + 1 :]]
        return sum(earlier < later for earlier, later in pairs) / len(pairs) if pairs else 1.0

    @property
    def is_monotonic(self) -> bool:
        """Whether the alignment is monotonic."""
        return self.order_agreement == 1.0

    @property
    def is_addition(self) -> bool:
        """Whether one only adds words to the other, or has the same, in the same order."""
        return self.is_monotonic and min(self.unaligned_weights) == 0

    @cached_property
    def unshared_tokens(self) -> frozenset[str]:
        """The tokens that only one of the two has, in lower case."""
        return self.first.lower_tokens ^ self.second.lower_tokens

    @property
    def is_complete(self) -> bool:
        """Whether every word is aligned."""
        return not any(self.unaligned_indices)

    @cached_property
    def substitutions(self) -> list[tuple[Token, Token, bool]]:
        """Unaligned words in the same position; True if their neighbours on both sides are aligned, not just one."""
        return list(self._substitutions())

    def _substitutions(self) -> Iterator[tuple[Token, Token, bool]]:
        first, second = self.first.content_words, self.second.content_words
        for index in (index for index in range(len(first)) if index not in self.aligned):
            for other_index in (
                other_index for other_index in range(len(second)) if other_index not in self._aligned_back
            ):
                left_aligned = (
                    self._is_aligned(index - 1, other_index - 1) if index and other_index else index == other_index == 0
                )
                is_last = index + 1 == len(first), other_index + 1 == len(second)
                right_aligned = all(is_last) if any(is_last) else self._is_aligned(index + 1, other_index + 1)
                if left_aligned or right_aligned:
                    yield first[index], second[other_index], left_aligned and right_aligned

    def _is_aligned(self, index: int, other_index: int) -> bool:
        return index in self.aligned and self.aligned[index][0] == other_index

    @cached_property
    def clashes(self) -> list[tuple[Token, Token, str]]:
        """Unaligned word pairs that are antonyms, co-hyponyms, of one class, or two names."""
        pairs = ((word, another, related(word, another)) for word in self.unaligned[0] for another in self.unaligned[1])
        return [(word, another, kind) for word, another, kind in pairs if kind in _CLASHES]

    @cached_property
    def has_antonyms(self) -> bool:
        """Whether two unaligned words are antonyms."""
        first = [word for index, word in enumerate(self.first.content_words) if index not in self.aligned]
        second = [word for index, word in enumerate(self.second.content_words) if index not in self._aligned_back]
        return any(related(word, another) == "opposite" for word in first for another in second)

    @property
    def differs_in_polarity(self) -> bool:
        """Whether the polarity differs."""
        return self.first.negations % 2 != self.second.negations % 2

    @property
    def is_negation_implied(self) -> bool:
        """Whether the one without the negation has a word that may imply it."""
        plain = self.first if self.second.negations > self.first.negations else self.second
        return plain.implied_negations > 0

    @cached_property
    def unshared_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of each that the other lacks; "Ghanaian" counts as "Ghana"."""
        first, second = self.first.names, self.second.names
        return _missing_names(first, second, self.second.text), _missing_names(second, first, self.first.text)

    @cached_property
    def unshared_kin(self) -> tuple[list[str], list[str]]:
        """The kinship nouns of each that the other lacks in any form."""
        return _missing_kin(self.first, self.second), _missing_kin(self.second, self.first)

    @property
    def is_same_subject(self) -> bool:
        """Whether the subjects are equal."""
        return self.first.subject == self.second.subject != ""

    @cached_property
    def unaligned_verbs(self) -> int:
        """How many of the two main verbs are unaligned."""
        roots = [each.root.index if each.root is not None else -1 for each in (self.first, self.second)]
        return sum(any(word.index == root for word in words) for root, words in zip(roots, self.unaligned, strict=True))

    @cached_property
    def _aligned_roles(self) -> list[tuple[str, str]]:
        """The roles of each aligned pair, and of the user, in the two statements."""
        first, second = self.first, self.second
        places = [
            (first.content_words[index].index, second.content_words[other_index].index)
            for index, (other_index, _) in self.aligned.items()
        ]
        users = [next((token.index for token in each.tokens if token.low == "user"), -1) for each in (first, second)]
        both = [
            (first.role_by_index.get(index, ""), second.role_by_index.get(other_index, ""))
            for index, other_index in (*places, (users[0], users[1]))
        ]
        return [(role, other_index) for role, other_index in both if role and other_index]

    @property
    def has_swapped_roles(self) -> bool:
        """Whether two words have exchanged roles: "from banking into teaching", "from teaching into banking"."""
        if self.first.is_passive != self.second.is_passive or not self.is_same_verb:
            return False
        turned = {pair for pair in self._aligned_roles if pair[0] != pair[1]}
        if self.first.verb == "be":
            turned = {pair for pair in turned if "object" not in pair}
        return any((other_index, role) in turned for role, other_index in turned)

    @property
    def is_in_reverse_order(self) -> bool:
        """Whether the same words are in reverse order: "the dog bit Tom" and "Tom bit the dog"."""
        places = [other_index for _, (other_index, _) in sorted(self.aligned.items())]
        is_passive = self.first.is_passive or self.second.is_passive
        return self.is_complete and len(places) > 2 and not is_passive and places == sorted(places, reverse=True)

    @property
    def is_agent_against_patient(self) -> bool:
        """Whether one has the agent noun and the other the patient noun: "a trainer" and "a trainee"."""
        ends = [
            {(word.lemma[:-2], word.lemma[-2:]) for word in each.content_words} for each in (self.first, self.second)
        ]
        doing = [{stem for stem, end in each if end in {"er", "or"}} for each in ends]
        done = [{stem for stem, end in each if end == "ee"} for each in ends]
        return bool(doing[0] & done[1] or doing[1] & done[0])

    @property
    def is_same_verb(self) -> bool:
        """Whether the main verbs are equal."""
        return self.first.verb == self.second.verb


def _missing_names(names: frozenset[str], others: frozenset[str], text: str) -> frozenset[str]:
    low = text.lower()
    return frozenset(
        name
        for name in names - others
        if name not in low
        and not (len(name) > _SHORT_NAME and re.search(rf"\b{re.escape(name.removesuffix('s'))}\b", low))
        and not any(relation(name, other) == "derived" for other in others)
    )


def _missing_kin(one: Content, other: Content) -> list[str]:
    return [
        kin
        for kin in sorted(one.kin_terms - other.kin_terms)
        if not any(relation(kin, word.lemma) in ALIKE and not word.is_kin for word in other.content_words)
        and not any(relation(kin, each) in {"synonym", "derived"} for each in other.kin_terms)
    ]


def features_of(pair: Alignment) -> dict[str, float]:
    """The features for and against two statements being the same, symmetric in both."""
    first, second = pair.first, pair.second
    found: dict[str, float] = {}
    unaligned, total = (
        pair.unaligned_weights,
        [sum(word.weight for word in each.content_words) or 1.0 for each in (first, second)],
    )
    shares = unaligned[0] / total[0], unaligned[1] / total[1]
    found |= {
        "left_min": min(unaligned),
        "left_max": max(unaligned),
        "share_min": min(shares),
        "share_max": max(shares),
    }
    lengths = len(first.content_words), len(second.content_words)
    found |= {"words_min": min(lengths), "words_apart": abs(lengths[0] - lengths[1])}
    for part in _COUNTED:
        counts = [sum(word.part == part for word in words) for words in pair.unaligned]
        found |= {f"{part}_min": min(counts), f"{part}_max": max(counts)}
    kinds = [kind for _, kind in pair.aligned.values()]
    found |= {kind: kinds.count(kind) for kind in ("same", *_KINDS)}
    found["covered"] = kinds.count("same") / max(1, min(lengths))
    found |= {"order": pair.order_agreement, "in_order": pair.is_monotonic}
    found["slots"] = sum(is_both for _, _, is_both in pair.substitutions)
    found["half_slots"] = len(pair.substitutions) - found["slots"]
    clashes = [kind for _, _, kind in pair.clashes]
    found |= {f"clash_{clash}": min(2, clashes.count(clash)) for clash in _CLASHES}
    unlike = [related(word, another) not in ALIKE for word, another, is_both in pair.substitutions if is_both]
    found["unlike_slots"] = sum(unlike) * pair.is_monotonic
    only = len(pair.unaligned_indices[0]), len(pair.unaligned_indices[1])
    found["replaced"] = pair.is_monotonic and only == (1, 1) and found["slots"] >= 1
    found["added"] = pair.is_monotonic and min(only) == 0 < max(only)
    found |= {"all": pair.is_complete, "all_in_order": pair.is_complete and pair.is_monotonic}
    found["denied"] = pair.differs_in_polarity
    found["both_denied"] = min(first.negations, second.negations)
    found["implied"] = pair.differs_in_polarity and pair.is_negation_implied
    found["implied_apart"] = abs(first.implied_negations - second.implied_negations)
    found["figures"] = bool(first.figures) and first.figures == second.figures
    found["names"] = len(first.names & second.names)
    found["days"] = bool(first.days) and first.days == second.days
    found["units"] = first.units != second.units
    kin = [len(each) for each in pair.unshared_kin]
    found |= {"kin_min": min(kin), "kin_max": max(kin), "kin": len(first.kin_terms & second.kin_terms)}
    unshared = pair.unshared_tokens
    found |= {"qualified": not unshared.isdisjoint(_QUALIFIERS), "qualified_small": not unshared.isdisjoint(_SMALL)}
    found["wish"] = first.is_wish != second.is_wish
    found |= {"past": first.is_past != second.is_past, "has_past": first.has_past != second.has_past}
    found["perfect"] = first.is_perfect != second.is_perfect
    found["passive"] = first.is_passive != second.is_passive
    found |= {"same_subject": pair.is_same_subject, "same_verb": pair.is_same_verb}
    found |= {"verbs_left": pair.unaligned_verbs, "any_verb_left": pair.unaligned_verbs > 0}
    plain_verb = first.verb not in {"be", "have", ""}
    is_voice_same = first.is_passive == second.is_passive
    found["turned"] = pair.is_same_verb and plain_verb and not pair.is_same_subject and is_voice_same
    found["turned_all"] = found["turned"] and pair.is_complete and not pair.is_monotonic
    found["opposite_subject"] = pair.is_same_subject and found["clash_opposite"] > 0
    starts = [each.normalised.lower().find("user") > len("The user") - 3 for each in (first, second)]
    found["user_later"] = starts[0] != starts[1]
    return {name: float(value) for name, value in found.items()}
