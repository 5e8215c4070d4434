"""What a statement about a person says, whichever words it takes: for telling that two say one thing, without a model.

Phrases and words that say one thing are put in one form (``synonyms.py``), and what carries nothing is left out. Two
statements say the same if nothing is left over on either side. Where the order of words tells who does what, how many
of what, or what is denied, it has to be the same too. In doubt they differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .parse import Parsed, Word, parse
from .stems import DATES
from .synonyms import MONTHS, form_of, in_one_form
from .words import listed

_TOKEN = re.compile(r".*[^\W_].*|[%€$£]")
_LIGHT = listed(
    """the a an be is are am was were been being have has had do does did of that which who whom in on at with by as to
    and 's there it its it's own really very quite just so also currently now already some any their they
    them together"""
)
"""Words that carry nothing once the phrases are in one form."""
_BOUND = listed(
    """from for before after than over under above below against until till since behind near between via through
    during toward towards into onto off across opposite beside next around like about within beyond along"""
)
"""Words that say what the one after them is: they are compared together with it."""
_FREE_ABOUT = listed("dream novel book think talk story film dreams novels books stories films poem poems")
_ORDERED = listed("than more less most least or but if when because while unless although instead rather except only")
"""Where one of these stands, the order of words tells what is meant."""
_PEOPLE = listed(
    """user mother father parent brother sister sibling son daughter child baby wife husband spouse partner girlfriend
    boyfriend fiancé fiancée grandmother grandfather grandparent grandson granddaughter grandchild aunt uncle niece
    nephew cousin friend roommate neighbour boss colleague teacher doctor lawyer coach manager dentist landlord tenant
    student pupil client customer team family"""
)
_DOERS = {"teacher", "manager", "coach"}
_PLAYERS = {
    "pianist": "piano",
    "cellist": "cello",
    "violinist": "violin",
    "guitarist": "guitar",
    "drummer": "drums",
    "flautist": "flute",
    "flutist": "flute",
    "bassist": "bass",
    "trumpeter": "trumpet",
    "saxophonist": "saxophone",
    "organist": "organ",
    "harpist": "harp",
    "violist": "viola",
}
_UNDERGOING = re.compile(r"\bbeing \w+(?:ed|en|n|t)\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d+")
_AGENT = re.compile(r"(?<=[a-z]{3})(?:er|or)s?$")


@dataclass(frozen=True)
class Gist:
    """What one statement says."""

    text: str
    names: frozenset[str] = frozenset()
    """What is known to be a name, in lower case: at the beginning of a sentence any word is capitalised."""

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The words that are capitalised within it, in lower case."""
        words = (word.strip(',;:()"').removesuffix("'s") for word in self.plain.split()[1:])
        return frozenset(word.lower() for word in words if word[:1].isupper())

    @cached_property
    def plain(self) -> str:
        """The text with phrases that say one thing in one form."""
        return in_one_form(self.text)

    @cached_property
    def figures(self) -> list[str]:
        """The figures in it, told without parsing."""
        return sorted(_FIGURE.findall(" ".join(form_of(word) for word in self.plain.lower().split())))

    @cached_property
    def parsed(self) -> Parsed | None:
        """Its words in that form; None for what can't be read."""
        return parse(self.plain)

    @cached_property
    def atoms(self) -> list[str]:
        """What it says in words of one form, in their order."""
        return list(self._atoms())

    def _atoms(self) -> Iterator[str]:
        words = self.parsed.words if self.parsed is not None else ()
        bound = ""
        for word in words:
            atom = self._atom(word)
            if not atom:
                continue
            if self._is_bound(word):
                bound += f"{word.low}:"
                continue
            yield bound + atom
            bound = ""
        if bound:
            yield bound

    def _atom(self, word: Word) -> str:
        """The form that a word is compared in; empty for one that carries nothing."""
        low = word.low.removesuffix("'s")
        if word.tag == "POS" or not _TOKEN.fullmatch(word.text) or (low in _LIGHT and not self._is_bound(word)):
            return ""
        if (low == "about" and self._is_free(word)) or (word.lemma.lower() in {"call", "name"} and word.tag == "VBN"):
            return ""
        if self._is_name(word):
            return low
        if low in _PLAYERS and word.dep in {"attr", "pobj"}:
            return f"{form_of('play')} {form_of(_PLAYERS[low])}"
        if self._is_doer(word):
            return form_of(_AGENT.sub("", low))
        is_inflected = word.pos in {"VERB", "AUX"} or word.tag == "NNS"
        return form_of(word.lemma.lower() if is_inflected and word.lemma.isalpha() else low)

    def _is_name(self, word: Word) -> bool:
        if not word.text[0].isupper() or DATES.fullmatch(word.low) or word.low in MONTHS:
            return False
        return word.index > 0 or word.tag in {"NNP", "NNPS"} or word.low in self.names

    def _is_bound(self, word: Word) -> bool:
        """Whether a preposition says what the word after it is."""
        if word.low == "to":
            return "prefer" in self.plain.lower() and (word.tag != "TO" or word.dep == "prep")
        return word.low in _BOUND and word.pos != "VERB" and not self._is_free(word)

    def _is_free(self, word: Word) -> bool:
        """Whether a preposition says no more than "of": "dreams about", "novels about"."""
        before = self.parsed.words[word.index - 1].low if self.parsed is not None and word.index else ""
        return word.low == "about" and before in _FREE_ABOUT

    def _is_doer(self, word: Word) -> bool:
        """Whether a noun says what its subject does: "is a chess player"; not whose it is: "is the user's teacher"."""
        if self.parsed is None or word.dep != "attr" or not _AGENT.search(word.low):
            return False
        if word.low in _PEOPLE - _DOERS:
            return False
        return not any(each.dep == "poss" for each in self.parsed.children(word))

    # --- Who does what ----------------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Word | None:
        """The main verb."""
        words = self.parsed.words if self.parsed is not None else ()
        return next((word for word in words if word.head == word.index and word.pos in {"VERB", "AUX"}), None)

    @cached_property
    def is_past(self) -> bool:
        """Whether it tells of what was; so it does in the perfect."""
        if self.root is None or self.parsed is None:
            return False
        aux = [each for each in self.parsed.children(self.root) if each.dep in {"aux", "auxpass"}]
        until_now = any(word.low in {"since", "for"} for word in self.parsed.words)
        had = any(each.lemma.lower() == "have" for each in aux) and not until_now
        if "former" in self.plain.lower() or (self.root.tag == "VBN" and not aux):
            return True
        return self.root.tag == "VBD" or any(each.tag == "VBD" for each in aux) or (had and self.root.tag == "VBN")

    @cached_property
    def past_within(self) -> int:
        """How many verbs in it but the main one are in the past tense."""
        words = self.parsed.words if self.parsed is not None else ()
        main = {self.root.index if self.root is not None else -1}
        main |= {word.index for word in words if word.head in main and word.dep in {"aux", "auxpass"}}
        return sum(word.tag == "VBD" and word.index not in main for word in words)

    @property
    def when(self) -> tuple[bool, int]:
        """Whether it tells of what was, and how many of its parts do."""
        return self.is_past, self.past_within

    @cached_property
    def does(self) -> bool:
        """Whether its verb says more than that something is or is had."""
        if self.root is None or (self.root.tag == "VBN" and self.root.lemma in {"call", "name"}):
            return False
        return self.root.lemma.lower() not in {"be", "have"}

    @cached_property
    def is_passive(self) -> bool:
        """Whether it names who does it after "by"."""
        return self.root is not None and self.parsed is not None and self.parsed.child(self.root, "agent") is not None

    @property
    def undergoes(self) -> int:
        """How often something is done to somebody: "hates being interrupted" is not "hates interrupting"."""
        return len(_UNDERGOING.findall(self.plain))

    @cached_property
    def doers(self) -> frozenset[str]:
        """Who does it: the subject, or what comes after "by"; also what stands beside it: "Tom, the user's brother"."""
        if self.root is None or self.parsed is None:
            return frozenset()
        agent = self.parsed.child(self.root, "agent")
        by = self.parsed.child(agent, "pobj") if agent is not None else None
        found = by or self.parsed.child(self.root, "nsubj", "nsubjpass", "csubj")
        return frozenset(self._beside(found)) if found is not None else frozenset()

    def _beside(self, word: Word) -> Iterator[str]:
        yield self._atom(word)
        if self.parsed is not None:
            for each in self.parsed.children(word):
                if each.dep in {"appos", "compound", "conj"}:
                    yield from self._beside(each)

    @cached_property
    def owners(self) -> frozenset[str]:
        """Whose somebody or something is: "the user's", "of Ana"; who has it."""
        if self.parsed is None:
            return frozenset()
        found = {self._atom(word) for word in self.parsed.words if word.dep == "poss"}
        found |= {
            self._atom(word)
            for word in self.parsed.words
            if word.dep == "pobj"
            and self.parsed.head(word).low == "of"
            and (self._is_name(word) or word.low in _PEOPLE)
        }
        if self.root is not None and self.root.lemma.lower() == "have":
            found |= self.doers
        return frozenset(found - {""})

    @cached_property
    def participants(self) -> list[str]:
        """The names and persons in it but the user, in their order."""
        words = self.parsed.words if self.parsed is not None else ()
        found = [
            self._atom(word)
            for word in words
            if self._is_name(word) or (word.low in _PEOPLE - {"user"} and not self._is_doer(word))
        ]
        return list(dict.fromkeys(found))

    @cached_property
    def has_order(self) -> bool:
        """Whether the order of words tells more than they do: who is compared, how many there are of what."""
        words = self.parsed.words if self.parsed is not None else ()
        figures = sum(atom.split(":")[-1][:1].isdigit() for atom in self.atoms)
        described = sum(word.dep == "amod" for word in words)
        joined = any(word.dep == "conj" and word.pos in {"VERB", "AUX"} for word in words)
        return figures > 1 or described > 1 or joined or any(word.low in _ORDERED for word in words)


_WED = re.compile(r"^the user is married to ", re.IGNORECASE)
_SPOUSE = re.compile(r"\b(?:wife|husband|spouse)\b")


def _wed(text: str, other: str) -> str:
    """The text with a marriage told as the other tells it: "the user's wife is Ana"."""
    spouse = _SPOUSE.search(other)
    return _WED.sub(f"The user's {spouse[0]} is ", text) if spouse else text


def same_gist(one: Gist, other: Gist) -> bool:
    """Whether two statements say one thing, as far as their words tell."""
    names = one.capitals | other.capitals
    one, other = Gist(_wed(one.text, other.text), names), Gist(_wed(other.text, one.text), names)
    if one.figures != other.figures or one.parsed is None or other.parsed is None or one.when != other.when:
        return False
    first, second = _once(one.atoms), _once(other.atoms)
    if one.undergoes != other.undergoes:
        return False
    if not first or Counter(first) != Counter(second):
        return False
    if _is_turned(first, second):
        return one.is_passive == other.is_passive or not one.doers.isdisjoint(other.doers)
    if one.has_order or other.has_order or _is_denied_elsewhere(first, second):
        return False
    return _same_people(one, other)


def _once(atoms: Sequence[str]) -> list[str]:
    """The atoms, the user once: "the user's diary" of the user's."""
    parts = [part for atom in atoms for part in atom.split(" ")]
    return [part for at, part in enumerate(parts) if part != "user" or "user" not in parts[:at]]


def _is_turned(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both have one order, or one begins where the other goes on: "in May she runs", "she runs in May"."""
    return any([*one[at:], *one[:at]] == list(other) for at in range(len(one)))


def _is_denied_elsewhere(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether what is denied may not be the same: more than the place of the word for it is another."""
    if "not" not in one:
        return False
    return not _is_turned([atom for atom in one if atom != "not"], [atom for atom in other if atom != "not"])


def _same_people(one: Gist, other: Gist) -> bool:
    """Whether the same ones do it, and it is of the same ones."""
    if (one.does or other.does) and one.doers.isdisjoint(other.doers):
        return False
    if one.owners and other.owners and one.owners != other.owners:
        return False
    if one.participants != other.participants:
        return not (one.does or other.does) and one.owners == other.owners
    return True
