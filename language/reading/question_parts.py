"""An assistant's question by its parts, as they are needed to answer it with a whole sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from language.reading.inflection import inflect_third_person, past_of
from language.reading.parse import NOUN_SUBJECTS, Parsed, Word, parse
from language.reading.words import KIN_PLURALS, listed

_YOURS = {"your": "my", "yours": "mine", "yourself": "myself"}
_OF_MINE = {"are": "am", "'re": "am", "were": "was"}
_HAVE = {"have": "Do", "has": "Does", "had": "Did"}
_UNCLEAR = listed("it that this these those there here them i me my mine we us our something anything else")
_AUXILIARIES = listed("be do have will would can could should must may might shall")


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """A question by its parts, in its order. ``gap``: the words asked for; ``rest``: what follows the subject."""

    parsed: Parsed
    gap: Sequence[Word]
    auxiliary: Word
    subject: Sequence[Word]
    rest: Sequence[Word]

    @classmethod
    def of(cls, text: str) -> QuestionParts | None:
        """Its parts; None if it is not understood, or about the one who asks."""
        parsed = parse(f"{text[:1].upper()}{text[1:]}")
        words = [each for each in parsed.words if each.pos != "PUNCT"] if parsed else []
        if parsed is None or not words or any(each.low in _UNCLEAR for each in words):
            return None
        denied = [each for each in words if each.dep == "neg"]
        if denied and not (words[0].low == "what" and denied[0].low in {"n't", "not"} and len(denied) == 1):
            return None
        if words[2:] and words[0].low in _HAVE and not any(each.tag == "VBN" for each in words):  # "Had he sisters?"
            return cls.of(f"{_HAVE[words[0].low]} {words[1].text} have {text[words[2].start :]}")
        asks = words[0].tag in {"WP", "WDT", "WRB"}
        place = next((at for at, word in enumerate(words[:6]) if word.lemma.lower() in _AUXILIARIES), None)
        if place is not None and (asks or not place):
            return cls._with_auxiliary(parsed, words, place)
        of_subject = asks and words[2:] and words[1].tag == "VBD"
        return cls(parsed, words[:1], words[1], [], words[2:]) if of_subject else None

    @classmethod
    def _with_auxiliary(cls, parsed: Parsed, words: Sequence[Word], place: int) -> QuestionParts | None:
        gap, auxiliary = words[:place], words[place]
        after = [each for each in words[place + 1 :] if each.dep != "neg"]
        root = next((each for each in words if each.head == each.index), auxiliary)
        subject = next((each for each in parsed.children(root) if each.dep in NOUN_SUBJECTS), None)
        if subject is None and gap and root is auxiliary and root.lemma == "be":  # "Who is Tom?"
            return cls(parsed, gap, auxiliary, after, [])
        if subject is not None and subject in gap:
            return cls(parsed, gap, auxiliary, [], after)
        named = {each.index for each in parsed.subtree(subject)} if subject is not None else set()
        own = list(takewhile(lambda each: each.index in named, after))
        understood = own and (gap or all(each.low != "or" or parsed.head(each).low in KIN_PLURALS for each in after))
        return cls(parsed, gap, auxiliary, own, after[len(own) :]) if understood else None

    @property
    def asks(self) -> str:
        """The interrogative: "when", "how old"; empty if it is answered by yes or no."""
        words = [each.low for each in self.gap]
        if words[:1] == ["how"] and len(words) > 1:
            return f"how {words[1]}"
        if len(words) == 2 and words[1] in {"year", "date", "day", "month", "time"}:
            return "when"
        return words[0] if words else ""

    @property
    def is_what_done(self) -> bool:
        """Whether it asks for a trade or a deed: "What did he do?"."""
        return bool(self.gap) and [each.lemma.lower() for each in (self.auxiliary, *self.rest[:1])] == ["do", "do"]

    @property
    def names(self) -> bool:
        """Whether a name is asked for."""
        return self.asks in {"who", "whom"} or any(each.lemma in {"name", "call"} for each in self.parsed.words)

    @property
    def of_user(self) -> bool:
        """Whether its subject is the one who answers."""
        return [each.low for each in self.subject] == ["you"]

    def whose(self) -> str:
        """Its subject as an owner: "my", "his", "Wim's"."""
        said = text_of(self.subject, of_subject=True)
        return {"I": "my", "he": "his", "she": "her", "they": "their"}.get(said, f"{said}'s")

    def begin(self) -> tuple[str, str, Sequence[Word]]:
        """Subject, verb and the words after it, as a statement has them."""
        said = text_of(self.subject, of_subject=True)
        low, rest = self.auxiliary.low, [each for each in self.rest if each.low not in {"ever", "often"}]
        if any(each.dep == "neg" for each in self.parsed.words):  # "What couldn't he abide?"
            return said, f"{low if low != 'ca' else 'can'} not", rest
        if self.auxiliary.lemma.lower() != "do" or not rest or self.is_what_done:
            form = {"'s": "is"}.get(low, low)
            return said, _OF_MINE.get(form, form) if self.of_user else form, rest
        at = next((at for at, each in enumerate(rest) if each.pos in {"VERB", "AUX"}), 0)
        lemma = rest[at].lemma.lower()
        plain = self.of_user or low == "do"
        verb = past_of(lemma) if low == "did" else lemma if plain else inflect_third_person(lemma)
        adverbs = "".join(f"{each.text} " for each in rest[:at])
        return said, adverbs + verb, rest[at + 1 :]


def after(words: Sequence[Word]) -> str:
    """Return words of a question to be put after others."""
    said = text_of(words)
    return f" {said}" if said else ""


def text_of(words: Sequence[Word], *, of_subject: bool = False) -> str:
    """Words of a question as the one who answers says them."""
    you = "I" if of_subject and len(words) == 1 else "me"
    said = ""
    for before, each in zip([None, *words], words, strict=False):
        told = ("I" if each.dep in NOUN_SUBJECTS else you) if each.low == "you" else _YOURS.get(each.low, each.text)
        said += f"{' ' if before is not None and before.end < each.start else ''}{told}"
    return (
        said
        if not of_subject or not words or words[0].pos == "PROPN" or said == "I"
        else f"{said[0].lower()}{said[1:]}"
    )
