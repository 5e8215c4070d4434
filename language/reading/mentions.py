"""Whom the assistant's message and the user's sentences mention, as far as "he" and "she" can mean them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from language.reading.kin import is_name_given, name_gender
from language.reading.lexicon import is_kind_of, is_place, is_word
from language.reading.normalise import MASK
from language.reading.parse import NOUN_SUBJECTS, Parsed, Word
from language.reading.persons import PRONOUNS, Person
from language.reading.words import KIN, KIN_GENDER, NOT_NAMES, PETS, listed

if TYPE_CHECKING:
    from language.reading.people import Cast

NO_PERSON = listed("""GPE LOC ORG DATE TIME NORP FAC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW CARDINAL MONEY QUANTITY""")
"""Entities that are nobody."""
_NEW = NOUN_SUBJECTS | {"dobj", "pobj", "ROOT"}
_ALONE = NOUN_SUBJECTS | {"ROOT", "dep", "npadvmod", "appos", "conj", "dative", "attr", "intj"}
"""What a person's name can be in a sentence or fragment about them."""
_SUBJECT_ASKED = re.compile(
    r"(?i)\b(?:did|was|were|does|do|is|are|has|had|have|can|could|would|will) (?:your (?:late )?)?(?P<who>[\w-]+)"
)
_STILL_TRUE = frozenset({"dead", "gone", "buried"})


def people_of(cast: Cast, reply: str) -> list[tuple[Person | None, str, bool]]:
    """Whom the assistant mentions, None for nobody known, with their gender; whether its question is about them.

    Whom it is about comes last.
    """
    found: list[tuple[Person | None, str, bool]] = []
    asked = _SUBJECT_ASKED.findall(reply)
    subject = asked[-1].lower() if asked else ""
    before = ""
    for word in re.findall(r"[^\W\d_][\w-]*|[.!?]", reply):
        low, previous, before = word.lower(), before, word.lower().strip(".!?")
        person, gender = None, ""
        known = next((each for each in cast.others if each.name and each.name.split()[0] == word), None)
        if low in cast.legacy_names:
            person = cast.legacy
        elif low in PRONOUNS:
            person, gender = cast.trail.asked_about(PRONOUNS[low]), PRONOUNS[low]
            person = None if low == "him" != subject and any(one is person for one, _, _ in found) else person
        elif low in KIN and previous in {"your", "late"}:
            is_legacy = cast.legacy is not None and (cast.legacy.group or KIN[low]) == KIN[low]
            person = cast.legacy if is_legacy else cast.find_or_add(kin=low, owner=cast.user)
        elif known is not None:
            person = known
        elif not (word[:1].isupper() and previous and name_gender(low)) or low == _given_name(cast.user):
            continue
        gender = person.gender if person is not None else gender or name_gender(word)
        found.append((person, gender, low == subject))
    return sorted(found, key=lambda each: each[2])


def note_stranger(cast: Cast, parsed: Parsed, word: Word) -> None:
    """Note that somebody unknown is mentioned, by a name or a noun such as "a doctor"."""
    if word.text.startswith(MASK) or word.entity in NO_PERSON or word.dep == "compound" or is_name_given(parsed, word):
        return
    is_subject = word.dep in NOUN_SUBJECTS
    if word.pos == "PROPN":
        is_name = word.dep in _ALONE and word.text[:1].isupper() and word.low not in NOT_NAMES
        gender = name_gender(word.text)
        is_common = is_word(word.low) and not (gender or is_subject or word.entity == "PERSON")  # "Mass"
        if is_name and not is_common and not is_place(word.text) and word.low != cast.user.name.lower():
            cast.trail.mention(None, gender)
    elif word.tag == "NN" and word.dep in _NEW and (word.low in PETS or is_kind_of(word.low, "person")):
        gender = KIN_GENDER.get(KIN.get(word.low, ""), "").strip("?")
        cast.trail.mention(None, gender, is_subject=is_subject, is_weak=not is_subject or word.low in PETS)


def tells_of_now(parsed: Parsed, verb: Word) -> bool:
    """Whether a verb tells what is so now, other than that somebody is dead."""
    helpers = [each for each in parsed.children(verb) if each.dep in {"aux", "auxpass"}]
    complements = {each.low for each in parsed.children(verb) if each.dep in {"acomp", "attr"}}
    is_passive = any(each.dep == "auxpass" for each in helpers)
    is_now = any(each.tag in {"VBZ", "VBP"} for each in (verb, *helpers)) and not is_passive
    return is_now and not complements & _STILL_TRUE


def _given_name(person: Person) -> str:
    return person.name.split(" ", maxsplit=1)[0].lower()
