"""Give sentences without a subject the one they are about: "Broke my wrist in 2022." gives "I broke my wrist in 2022."

The subject is that of the sentence before, or the one the assistant asked about. A fragment gets a subject if its first
word is a verb that agrees with it, and a verb, too, if it is an adjective, a participle, a trade or an age.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from language.reading.clauses import SUBJECTS, is_inverted
from language.reading.learners import article
from language.reading.lexicon import is_kind_of, is_word
from language.reading.parse import Parsed, Word
from language.reading.words import (
    FEMALE_NAMES,
    KIN,
    KIN_PLURALS,
    MALE_NAMES,
    NATIONALITIES,
    NOT_NAMES,
    OCCUPATIONS,
    PETS,
    listed,
)

_ASKED_OF = re.compile(
    r"(?i)\b(?:did|was|were|does|do|is|are|am|has|had|have|can|could|would|will|'s|'re) "
    r"(?P<who>he|she|you(?! (?:say|mean|know)\b)|it|that|this|they|the|your \w+)\b"
    r"|\babout (?P<of>you|yourself|your \w+)\b"
)
_YOUR_KIN = re.compile(
    rf"(?i)\byour (?:late )?(?P<kin>{'|'.join(sorted(map(re.escape, KIN), key=len, reverse=True))})\b"
)
_OF_ONESELF = listed("health diet sleep childhood background schooling career work job week routine eyesight hearing")
_YOUR = re.compile(r"(?i)\byou(?:r|rs|rself)?\b")
_SAME: Mapping[str, Collection[str]] = {"He": {"him"}, "She": {"her"}}
"""Pronouns that don't mean the subject as objects."""
PASSIVE_VERBS = listed("bury call name marry diagnose adopt educate base divorce widow raise promote section fire")
"""Verbs whose participle without a subject is passive: "diagnosed in 2012"."""
_LASTING = listed("retired married divorced separated widowed engaged")
"""Participles that tell a state with "since": "Retired since 2025" is no "I retired since 2025"."""
_CIVIL = listed("widow widower vegetarian vegan teetotaller pensioner twin orphan")
_BASE_VERBS = listed("want love like hate prefer dislike live work need play speak eat drink have study collect")
"""Those whose base form at the start is more often a note about oneself than an order."""
_UNCLEAR = listed("it that this these those them you your him")
_MARKERS = listed("well just still properly always also never ever even really once now then")
_AGE = re.compile(r"(?P<age>[1-9]\d)(?:,|\.(?!\d)|$)")
_OF_THING = re.compile(r"(?i)(?:^|[.!?] )(?:and )?(?:what|which)(?: kind of)? \w+\?$")
"""A question about a thing of the sentence before, which may do what the answer tells: "What breed?"."""
_OF_NUMBERS = re.compile(r"(?i)\bhow (?!old)|\b(?:when|number|what time)\b")


def subject_asked_about(reply: str) -> str | None:
    """Who the assistant's message asks about: "I", "My mother", "He", or empty for a thing; None if unknown."""
    asked = re.split(r"(?<=[.!?])\s+", reply.strip())[-1]
    found = _ASKED_OF.search(asked)
    who = ((found["who"] or found["of"]) if found else "").lower()
    if who in {"you", "yourself"}:
        return "I"
    if who.startswith("your "):
        return f"My {who[5:]}" if who[5:] in KIN else "I" if who[5:] in _OF_ONESELF else ""
    if who in {"he", "she"}:
        return who.capitalize()
    kin = kin_asked_about(asked)
    if who or kin:
        return f"My {kin}" if kin and not who else ""
    return "I" if _YOUR.search(asked) else None


def kin_asked_about(reply: str) -> str:
    """Which of the user's relatives the last sentence of the assistant's message names first; empty if none."""
    found = _YOUR_KIN.search(re.split(r"(?<=[.!?])\s+", reply.strip())[-1])
    return found["kin"].lower() if found else ""


def supply_subjects(parsed: Parsed, about: str | None, reply: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) that complete fragments. ``about``: the subject of the first."""
    subject = "" if about is None or _OF_THING.search(reply) else about
    past = subject in {"He", "She"}
    is_of_unknown = "?" in reply and subject_asked_about(reply) is None  # "A big family?"
    is_order = False  # After one, a verb's base form can be another.
    for words in parsed.each_sentence():
        plain = [each for each in words if each.pos not in {"PUNCT", "SYM"}]
        is_row = len(words) > 1 and words[1].text in {"-", ":"}  # "Nils - miner"
        asks = parsed.text[words[-1].start : words[-1].end + 1].rstrip().endswith("?")
        subject = "" if is_row else subject
        if is_row or not plain or asks or is_inverted(parsed, words[0].index, words[-1].index + 1):
            continue
        root = next((each for each in words if each.head == each.index), words[0])
        said = next((each for each in parsed.children(root) if each.dep in SUBJECTS), None)
        lead = next((at for at, each in enumerate(plain) if each.low not in _MARKERS), 0)
        first = plain[lead]
        # "Died Aug 14": the parser takes the month for the subject.
        own = [each for each in parsed.children(first) if each.dep in SUBJECTS and first.pos != "VERB"]
        age = _AGE.match(parsed.text, words[0].start) if words[0].pos == "NUM" else None
        is_own = subject == "I" or subject.lower().startswith("my ")
        if age is not None and is_own and not _OF_NUMBERS.search(reply):
            aged = f"{subject[0].upper()}{subject[1:]} {'am' if subject == 'I' else 'is'} {age['age']}."
            yield age.start(), age.end(), aged
            continue
        if said is None and root.pos == "PROPN" and root is first and root.low in FEMALE_NAMES | MALE_NAMES:
            subject = root.text  # "Tom. Drives a van."
            continue
        noted = _own_note(plain, root) if subject == "I" and said is None else ""
        if noted and not (_OF_NUMBERS.search(reply) or is_of_unknown):
            yield plain[0].start, plain[0].end, f"I {noted} {plain[0].low}"
            continue
        if own or (first is said and first.pos != "VERB"):
            subject, past = _next_subject(parsed, said, root, subject, past=past)
            continue
        given = None
        if subject and not (is_order and first.tag in {"VB", "VBP"}):
            given = _verb_between(parsed, plain, first, root, subject, past=past, alone=said is None)
        if given is not None:
            begins = f"{subject} {given}"
            keep = (
                first.text
                if first.low in NATIONALITIES or (first.pos == "PROPN" and not given)
                else f"{first.text[0].lower()}{first.text[1:]}"
            )
            yield plain[0].start, first.end, begins + "".join(f"{each.low} " for each in plain[:lead]) + keep
        elif said is not None:
            subject, past = _next_subject(parsed, said, root, subject, past=past)
        else:
            is_order = is_order or root.tag == "VB"


def _own_note(plain: Sequence[Word], root: Word) -> str:
    """The verb of a note about oneself, with its article: "have" of "Two children.", "am a" of "Widow."; else empty."""
    first = plain[0]
    if first.pos == "NUM" and root.low in KIN.keys() | KIN_PLURALS | PETS and root.index > first.index:
        return "have"
    if len(plain) > 1 or first.low not in OCCUPATIONS | _CIVIL | _LASTING:
        return ""
    return "am" if first.low in _LASTING else f"am {article(first.low[0])}"


def _next_subject(parsed: Parsed, said: Word | None, root: Word, before: str, *, past: bool) -> tuple[str, bool]:
    """The subject that the next fragment shares, and whether it is spoken of in the past."""
    if said is None:
        return before, past
    verbs = (root, *(each for each in parsed.children(root) if each.dep in {"aux", "auxpass"}))
    past = any("Tense=Past" in each.morph and each.tag == "VBD" for each in verbs)
    if said.low in {"i", "he", "she"}:
        return said.text if said.low == "i" else said.low.capitalize(), past
    if (said.low in KIN or said.pos == "PROPN") and said.low not in NOT_NAMES and parsed.child(said, "conj") is None:
        whole = [
            each for each in parsed.subtree(said) if each.dep in {"poss", "compound", "det", "amod"} or each is said
        ]
        return parsed.text[whole[0].start : whole[-1].end].replace("My ", "my "), past
    return "", past


def _verb_between(  # noqa: PLR0911
    parsed: Parsed,
    plain: Sequence[Word],
    first: Word,
    root: Word,
    subject: str,
    *,
    past: bool,
    alone: bool,
) -> str | None:
    """What stands between the subject and a fragment: "", "am " or the like; None if it is no such fragment."""
    own = subject == "I"
    is_person = root.tag == "NN" and is_kind_of(root.low, "person")
    be = "was " if past and not own else "am " if own else "is "
    have = "have " if own else "had " if past else "has "
    if first.low == "been":
        return have
    if first.low in _LASTING and any(each.low == "since" for each in plain[plain.index(first) + 1 :][:1]):
        return f"{have}been "
    if first.pos in {"VERB", "AUX"} or first.low == "got":
        same = _SAME.get(subject, ())
        if not (first.low == "got" or is_word(first.lemma)) or any(
            each.low in same and _is_object(parsed, each) for each in plain
        ):
            return None
        if first.tag == "VBD" or first.low == "got" or (first.tag == "MD" and first.index != plain[-1].index):
            return ""
        if first.tag == "VBZ":
            return None if own else ""
        if first.tag in {"VB", "VBP"}:
            is_note = own and first.lemma in _BASE_VERBS and len(plain) > 2
            return "" if is_note and not any(each.low in _UNCLEAR for each in plain) else None
        if first.tag == "VBN" and any(parsed.children(first)) and first.lemma not in {"call", "name"}:
            is_active = parsed.child(first, "dobj") is not None  # "Never left school."
            passive = not is_active and (
                first.lemma in PASSIVE_VERBS or first.low.endswith("n") or parsed.child(first, "agent")
            )
            return be if passive else ""
        return None
    if _is_past_of_verb(first) and len(plain) > 1 and first.head == first.index + 1 and not is_person:
        return ""
    is_named = subject not in {"I", "He", "She"} and not subject.startswith("My ")
    if not alone or is_named or len(plain) < 2 or any(each.low in _UNCLEAR for each in plain):
        return None
    if root.pos == "ADJ" and any(
        each.dep in {"prep", "npadvmod", "amod", "compound"} for each in parsed.children(root)
    ):
        return be
    if is_person and first.dep in {"compound", "amod", "ROOT"}:
        return f"{be}{article(first.text[0])} " if root.low not in KIN else None
    return None


def _is_object(parsed: Parsed, word: Word) -> bool:
    return word.dep in {"dobj", "dative", "nsubj"} or (word.dep == "poss" and parsed.head(word).tag == "VBG")


def _is_past_of_verb(word: Word) -> bool:
    """Whether a word that the parser takes for an adjective or name is a verb's past: "Studied" before "chemistry"."""
    low = word.low
    return low.endswith("ed") and any(is_word(each) for each in (low[:-2], low[:-1], f"{low[:-3]}y"))
