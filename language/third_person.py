"""Convert what a person typed in the second person ("You like tea.") to the stored form ("The user likes tea.").

The third person is used if ``second_person`` converts it back to the typed text, so that the person reads their own
words again. Otherwise the first person is used: it differs from the second in no verb but "to be".
"""

from __future__ import annotations

import re
from collections.abc import Callable

import regex

from language.reading.inflection import inflect_third_person
from language.reading.parse import Parsed, Word, parse
from language.shown import as_shown

from .second_person import second_person

SHORT_CHARACTERS = 200
"""The longest free text that is also compared as a statement about the person."""

OF_THE_USER = regex.compile(
    r"(?-i:\bI\b)|\b(?:user|me|my)\b|^(?:(?:now|still|also|currently|usually|always) )*\p{L}+s\b"
    r"|^(?:preferred|chosen|native|mother)\b|^(?:pronouns?|nickname)\b",
    regex.IGNORECASE,
)
"""Of what stands beside a statement, what is about the user: it names them, begins with a verb, or has such a label."""
_SAYS_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_SHORT = re.compile(r"(?<=\byou)['’](re|ve|ll)\b", re.IGNORECASE)
_IN_FULL = {"re": " are", "ve": " have", "ll": " will"}
_OF_THE_USER = {
    "you": "the user", "your": "the user's", "are": "is", "were": "was", "have": "has", "do": "does",
}  # fmt: skip
_OF_ME = {"your": "my", "yours": "mine", "yourself": "myself", "are": "am", "were": "was"}
_SUBJECT = ("nsubj", "nsubjpass")
_FIRST_PERSON = re.compile(
    r"\b(?:I(?: am\b| was\b|['’]m\b|(?=['’](?:ve|ll|d)\b)|\b)|me|my|mine|myself)\b", re.IGNORECASE
)
_AS_YOU = {
    "i": "you", "i am": "you are", "i was": "you were", "i'm": "you are", "me": "you", "my": "your", "mine": "yours",
    "myself": "yourself",
}  # fmt: skip


def stored_as(typed: str, before: str, told: str) -> str:
    """Return the stored form of a text that was typed over ``before``, which was shown as ``told``."""
    if typed.split() == told.split():
        return before
    return third_person(typed) if told != before else typed


def about_the_user(text: str) -> str:
    """Return a short text as a statement about the user, for comparisons: "I'm a cook", "plays cello", "Bobby's boss".

    It is not always a correct sentence. Unchanged if it names the user.
    """
    shown = " ".join(as_shown(text).split())
    if re.search(r"\buser\b", shown, re.IGNORECASE) or not shown:
        return text
    said = _FIRST_PERSON.sub(lambda found: _AS_YOU[found[0].lower().replace("’", "'")], shown)
    if _SAYS_YOU.search(said):
        return third_person(said[0].upper() + said[1:])
    rest = said[0].lower() + said[1:]
    told = third_person(f"You {rest}")
    return told if told.startswith("The user") else f"The user {rest}"


def third_person(told: str) -> str:
    """Convert a statement with "you" to one about "the user", or to the first person if that is uncertain."""
    told = _SHORT.sub(lambda found: _IN_FULL[found[1].lower()], " ".join(told.split()))
    parsed = parse(told, names=False) if _SAYS_YOU.search(told) else None
    if parsed is None:
        return told
    verbs = {verb.index for word in parsed.words if word.low == "you" for verb in _verbs_of(parsed, word)}
    turned = _turned(parsed, lambda word: _said_of_the_user(word, verbs))
    if turned != told and second_person(turned) == told:
        return turned
    return _turned(parsed, lambda word: _said_of_me(parsed, word, verbs))


def _verbs_of(parsed: Parsed, you: Word) -> list[Word]:
    """Return the present tense verbs whose subject is a "you"."""
    if you.dep not in _SUBJECT:
        return []
    heads = [parsed.head(you)]
    while (beside := parsed.child(heads[-1], "conj")) is not None and parsed.child(beside, *_SUBJECT) is None:
        heads.append(beside)
    said = []
    for head in heads:
        first = parsed.child(head, "aux", "auxpass") or head
        said += [first] if first.tag in {"VBP", "VB"} or first.low == "were" else []
        if first is not head and first.low != "do":
            break  # "You can swim and dive": the helper stands for the others, too.
    return said


def _turned(parsed: Parsed, said: Callable[[Word], str]) -> str:
    text, at = "", 0
    for word in parsed.words:
        turned = said(word)
        text += parsed.text[at : word.start]
        text += turned[:1].upper() + turned[1:] if word.text[:1].isupper() else turned
        at = word.end
    return text + parsed.text[at:]


def _said_of_the_user(word: Word, verbs: set[int]) -> str:
    if word.index in verbs:
        return _OF_THE_USER.get(word.low) or inflect_third_person(word.text)
    return _OF_THE_USER[word.low] if word.low in {"you", "your"} else word.text


def _said_of_me(parsed: Parsed, word: Word, verbs: set[int]) -> str:
    if word.low == "you":
        return "I" if word.dep in _SUBJECT else "me"
    before = parsed.words[word.index - 1] if word.index else None
    if word.low in {"n't", "n’t"} and before is not None and before.low == "are" and before.index in verbs:
        return " not"
    return _OF_ME[word.low] if word.low in _OF_ME and (word.low[0] == "y" or word.index in verbs) else word.text
