"""Replaces "the user" by "you" wherever it stands in a sentence, by its grammar, for ``second_person``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from language.brief_caches import cached_briefly
from language.reading.parse import Parsed, Word, parse

_USER = re.compile(r"\b(t)he user\b", re.IGNORECASE)
_NAMES = ("Peter", "Robert")
"""What is parsed in the place of "the user" where the parser takes that for part of a compound: "the user sings"."""
_OfYou = Callable[[str], str | None]
_SUBJECT = ("nsubj", "nsubjpass")
_ROLES = frozenset({*_SUBJECT, "dobj", "pobj", "dative", "attr", "conj", "poss"})
_PLAIN = frozenset({"det", "case", "conj", "cc", "punct", "preconj"})
"""What may depend on the person's name if it does not describe them."""
_FINITE = frozenset({"VERB", "AUX"})
_OTHER_CLAUSE = frozenset({"WDT", "WP", "WRB"})


@cached_briefly(maxsize=5_000)
def you_by_grammar(text: str, of_you: _OfYou) -> str | None:
    """Return a text with "you" and "your" for "the user" and "the user's"; None if its grammar is not clear.

    ``of_you`` returns the second person of a third person verb, or None for other words. Costs a parse.
    """
    name = next((each for each in _NAMES if each not in text), "")
    begins = [each[1] for each in _USER.finditer(text)]
    as_it_is = _read(text, "user", begins, of_you)
    return as_it_is or (_read(_USER.sub(name, text), name, begins, of_you) if name else None)


def _read(text: str, called: str, begins: Sequence[str], of_you: _OfYou) -> str | None:
    """Parse a text in which the user is ``called`` so; ``begins``: the first letters of what stood there."""
    parsed = parse(text, names=False)
    users = [word for word in parsed.words if word.text == called] if parsed else []
    if parsed is None or len(users) != len(begins) or not all(_is_clear(parsed, user) for user in users):
        return None
    turned: dict[int, str] = {}
    for user, begin in zip(users, begins, strict=True):
        yours = _possessive(parsed, user)
        turned[user.index] = ""
        turned[user.index - (called == "user")] = ("Y" if begin.isupper() else "y") + ("our" if yours else "ou")
        if yours:
            turned[yours.index] = ""
        for verb in _verbs_of(parsed, user):
            told = of_you(verb.text) if verb else None
            if verb is None or told is None:
                return None
            turned[verb.index] = told
    return _joined(parsed, turned)


def _possessive(parsed: Parsed, user: Word) -> Word | None:
    after = parsed.words[user.index + 1 : user.index + 2]
    return after[0] if after and after[0].tag == "POS" else None


def _is_clear(parsed: Parsed, user: Word) -> bool:
    """Whether the person is meant: neither part of a compound, nor described, nor in a text without a verb."""
    top = head = parsed.head(user)
    while top.head != top.index:
        top = parsed.head(top)
    if top.pos not in _FINITE or any(each.dep not in _PLAIN for each in parsed.children(user)):
        return False
    if user.dep == "poss":  # "The user's vegan" may be a verb.
        return head.pos in {"NOUN", "PROPN"} and _possessive(parsed, user) is not None
    is_of = head.low == "of" and parsed.head(head).pos in {"NOUN", "PROPN"}  # "A friend of the user".
    return not is_of and user.dep in _ROLES and _possessive(parsed, user) is None


def _verbs_of(parsed: Parsed, user: Word) -> Iterator[Word | None]:
    """Yield the verbs in the third person whose subject is the user alone; None if that is not clear."""
    if user.dep not in _SUBJECT or parsed.child(user, "conj") is not None:
        return
    verb: Word | None = parsed.head(user)
    while verb is not None and parsed.child(verb, *_SUBJECT) in {user, None}:
        finite = parsed.child(verb, "aux", "auxpass") or verb
        if finite.tag == "VBZ" or finite.low == "was":
            between = parsed.words[user.index : finite.index] if verb is not parsed.head(user) else ()
            may_be_noun = [each.tag for each in between[-2:]] == ["NNS", "CC"]  # "Enjoys walks and rides".
            yield None if may_be_noun or any(each.tag in _OTHER_CLAUSE for each in between) else finite
        elif finite.pos not in _FINITE:
            yield None
        verb = parsed.child(verb, "conj")


def _joined(parsed: Parsed, turned: Mapping[int, str]) -> str:
    text, at = "", 0
    for word in parsed.words:
        told = turned.get(word.index, word.text)
        text += f"{parsed.text[at : word.start]}{told}" if told else ""
        at = word.end
    return text + parsed.text[at:]
