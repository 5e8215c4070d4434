"""Put into the passive what unknown people did to somebody: "They buried her in blue": "She was buried in blue"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from language.reading.clauses import DOUBT, SAY
from language.reading.parse import Parsed, Word, irregular_forms
from language.reading.words import KIN, KIN_PLURALS, listed

_ANYBODY = listed("they people someone somebody")
_SUBJECTS: Mapping[str, str] = {"him": "he", "her": "she", "me": "I"}
_HEADS = frozenset({"ROOT", "conj", "ccomp", "parataxis"})
_WITHOUT_PASSIVE = (SAY - {"call"}) | DOUBT | listed("get have let make want like love hate")  # fmt: skip
_INFLECTED = ("ing", "s")


def passives(parsed: Parsed) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) that make the person whom "they" did something to the subject."""
    for verb in parsed.words:
        subject = parsed.child(verb, "nsubj")
        if subject is None or subject.low not in _ANYBODY or verb.dep not in _HEADS or verb.tag != "VBD":
            continue
        used = parsed.child(verb, "xcomp") if verb.low == "used" else None
        does = used or verb
        to_whom = next((each for each in parsed.children(does) if each.dep in {"dobj", "dative"}), None)
        said = (*parsed.children(verb), *parsed.children(does))
        participle = _participle(does)
        if (
            to_whom is None
            or to_whom.low not in _SUBJECTS
            or to_whom.index != does.index + 1
            or not participle
            or any(_is_of_subject(parsed, each) for each in said)
            or _names_several(parsed, subject)
        ):
            continue
        who, is_first = _SUBJECTS[to_whom.low], subject.text[:1].isupper()
        who = who[0].upper() + who[1:] if is_first else who
        yield subject.start, subject.end, who if used else f"{who} was"
        yield does.start, to_whom.end, f"be {participle}" if used else participle


def _is_of_subject(parsed: Parsed, word: Word) -> bool:
    """Whether a part of the predicate needs the old subject or its form: "didn't pay her", "fed her and left"."""
    shares = word.dep == "conj" and parsed.child(word, "nsubj", "nsubjpass") is None
    return shares or (word.dep in {"aux", "neg"} and word.low != "to")


def _participle(verb: Word) -> str:
    """The past participle of a verb that can be passive; empty if it is not known."""
    if verb.lemma in _WITHOUT_PASSIVE:
        return ""
    forms = {each for each in irregular_forms(verb.lemma) if not each.endswith(_INFLECTED)} - {verb.lemma}
    if not forms:
        return verb.low if verb.tag == "VBD" else ""
    last = [each for each in forms if each.endswith(("n", "ne"))] or list(forms)
    return last[0] if len(last) == 1 else ""


def _names_several(parsed: Parsed, word: Word) -> bool:
    """Whether relatives were mentioned before, whom "they" can mean: then who did it is told."""
    before = parsed.words[: word.index]
    return any(each.low in KIN_PLURALS or (each.low in KIN and each.dep == "conj") for each in before)
