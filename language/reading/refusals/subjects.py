"""The content words of a sentence and its subjects: "I live in Lisbon" does not match "my sister lives in Lisbon"."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from language.reading.words import KIN, listed

from ..lexicon import is_word
from ..parse import NOUN_SUBJECTS, Parsed, Word, irregular_forms, parse

_NO_CONTENT = frozenset(
    """be have do will would can could shall should may might must get go say tell mention mean think know want like
    please thank sorry thing part bit story stuff matter business word sentence remark piece fact note memory record
    book album file summary message last previous one anything something everything nothing private secret wrong lot
    now later again really just also anyway obviously okay ok right forget remember keep save store write delete erase
    remove embarrassing stupid silly hurt upset talk speak shut mouth oh yes no well hmm user never not ago long time
    whole all bad call need""".split()  # noqa: SIM905 - a list of words reads as a text
)
_CALLED = {
    "father": "dad daddy papa pa", "mother": "mum mom mummy mama ma", "grandfather": "grandpa granddad grandad opa",
    "grandmother": "grandma gran nan granny oma", "husband": "hubby", "child": "kid", "debt": "owe", "live": "address",
    "pregnancy": "pregnant", "allergy": "allergic", "divorce": "divorced", "work": "job", "earn": "salary",
    "take": "medication", "drink": "drunk drinking drinker", "smoke": "smoking smoker", "gamble": "gambling gambler",
}  # fmt: skip
_SAME_WORD = {each: word for word, others in _CALLED.items() for each in others.split()}
_IN_ALL_FORMS = 4
"""The length of the beginning that nearly all inflected forms of a word share."""
_OPEN = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "X", "INTJ"})


def content_words(words: Iterable[Word]) -> list[str]:
    """Return the lemmas of content words, with one lemma for all words for a relative."""
    lemmas = (_lemma_of(word) for word in words if word.pos in _OPEN and word.dep not in {"aux", "auxpass", "neg"})
    return [
        _SAME_WORD.get(lemma, lemma) for lemma in lemmas if lemma not in _NO_CONTENT and any(map(str.isalnum, lemma))
    ]


def _lemma_of(word: Word) -> str:
    """The lemma in lower case; a word that is no plural of a known noun is taken for a name: "Leeds" is no "leed"."""
    lemma = word.lemma.lower()
    return word.low if word.tag in {"NNS", "VBZ"} and not is_word(lemma) else lemma


def _forms_of(lemma: str) -> frozenset[str]:
    """The words with this lemma for ``content_words``, without regular endings: "shoot" and "shot"; "father", "dad"."""
    words = {lemma, *_CALLED.get(lemma, "").split()}
    return frozenset(words.union(*map(irregular_forms, words)))


def beginnings_of(lemma: str) -> list[str]:
    """The beginnings that nearly all inflected forms of a word share, one of which a text has that holds the word."""
    # "Tried" has no y.
    return sorted({form[:_IN_ALL_FORMS].removesuffix("y") for form in _forms_of(lemma)})


def lemmas(text: str) -> frozenset[str]:
    """Return the content words of a text; none where the parser fails."""
    parsed = parse(text)
    return frozenset(content_words(parsed.words)) if parsed is not None else frozenset()


_SPEAKER = "i"
_SELF = listed("i me user")
_POINTING = listed("he she they it we who that this which him her them us")
_LIGHT = listed("live work go come stay like love enjoy make take give see look find use feel start try")
_NAMING = listed("call name")
_COMPLEMENTS = frozenset({"dobj", "attr", "acomp", "oprd"})


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """The lemmas of a sentence's content words, by function.

    ``people`` are the kin and names among the subjects, and "i" for the speaker; empty if a pronoun may refer to
    anybody. ``subjects`` are all words of the subjects, ``verbs`` are light verbs, ``content`` is the rest. ``claimed``
    are the verbs and their complements, without what is only named beside them: "expelled", not "from school".
    """

    words: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    claimed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> SentenceWords:
        """Parse a sentence; all sets are empty if it can't be parsed or is in another language."""
        parsed = parse(text)
        return cls() if parsed is None else cls._read(parsed)

    @classmethod
    def _read(cls, parsed: Parsed) -> SentenceWords:
        subjects = [word for word in parsed.words if word.dep in NOUN_SUBJECTS]
        subjects += [each for word in subjects for each in parsed.children(word) if each.dep == "conj"]
        mentioned = frozenset(content_words(parsed.words)) | {_SPEAKER for word in parsed.words if word.low in _SELF}
        pronouns = (word for word in parsed.words if word.pos == "PRON" and word.dep != "poss")
        open_to_all = not subjects or any(word.low in _POINTING for word in pronouns)
        return cls(
            words=mentioned,
            people=frozenset() if open_to_all else frozenset(_people(subjects)),
            subjects=frozenset(content_words(subjects)),
            verbs=mentioned & _LIGHT,
            claimed=frozenset(content_words(_claimed(parsed))) - _LIGHT,
        )

    @property
    def content(self) -> frozenset[str]:
        """The words besides subjects and light verbs."""
        return self.words - self.subjects - self.verbs - {_SPEAKER}

    def is_claimed_by(self, text: str) -> bool:
        """Whether a text has words of what is claimed, not only of whom and what the sentence names."""
        return not (self.claimed or self.content).isdisjoint(SentenceWords.of(text).words)

    def is_about_others_than(self, other: SentenceWords) -> bool:
        """Whether both name their people, and these differ. Kin and a name may be the same person."""
        if not self.people or not other.people or self.people & other.words or other.people & self.words:
            return False
        one, two = (frozenset(map(_kind, each.people)) for each in (self, other))
        return {"kin", "name"} != one | two

    def may_be_restated_by(self, text: str) -> bool:
        """Whether a sentence may repeat this one: about the same people, with more in common than light verbs."""
        if not self.subjects | self.people:
            return True
        other = SentenceWords.of(text)
        shared = self.words & other.words
        only_verb = bool(shared & self.verbs) and bool(self.content) and not shared & self.content
        return not only_verb and not self.is_about_others_than(other)


def _people(subjects: Iterable[Word]) -> Iterable[str]:
    for word in subjects:
        if word.low in _SELF:
            yield _SPEAKER
        elif word.low in KIN or word.pos == "PROPN":
            yield from content_words([word])


def _claimed(parsed: Parsed) -> Iterator[Word]:
    """Yield the verbs, and their complements: of a light verb also where or with whom, "went to prison"."""
    for verb in parsed.words:
        if verb.pos not in {"VERB", "AUX"} or verb.lemma.lower() in _NAMING:
            continue
        yield verb
        beside = parsed.children(verb)
        told = [each for each in beside if each.dep in _COMPLEMENTS]
        if verb.pos == "AUX" or verb.lemma.lower() in _LIGHT:
            told += [each for prep in beside if prep.dep == "prep" for each in parsed.children(prep)]
        for each in told:
            yield each
            yield from (other for other in parsed.subtree(each) if other.dep == "conj")


def _kind(person: str) -> str:
    return _SPEAKER if person == _SPEAKER else "kin" if person in KIN else "name"


def shares_of(words: frozenset[str], passages: Sequence[tuple[int, str]]) -> dict[tuple[int, str], float]:
    """The weighted share of the words in each passage, from 0 to 1; rarer words weigh more."""
    said = {passage: lemmas(passage[1]) for passage in passages}
    counts = Counter(word for each in said.values() for word in each & words)
    weight = {word: 1 / math.log2(2 + counts[word]) if counts[word] else 0.6 for word in words}
    total = sum(weight.values()) or 1.0
    return {passage: sum(weight[word] for word in each & words) / total for passage, each in said.items()}
