"""What may leave: statements that stand alone, in sound English, and say no less than was said."""

from __future__ import annotations

import re

MOST_CHARACTERS = 280
_LEAST_CHARACTERS = 9

_OTHER_PERSON = re.compile(r"(?i)\b(?:I|me|my|mine|myself|we|us|our|ours|you|your|yours|yourself)\b")
_PRONOUN_FIRST = re.compile(
    r"(?i)^(?:he|she|it|they|his|her|their|its|this|that|these|those|there|here|and|but|or|who|which|him|them)\b"
)
_DOUBLED = re.compile(r"(?i)\b([a-z']{2,}(?: [a-z']+)?),? \1\b")
_MAY_DOUBLE = frozenset({"had", "that", "very", "so", "many"})
_ENDS_OPEN = re.compile(
    r"(?i)\b(?:and|or|but|the|an|because|although|when|while|if|than|as|very|is|am|are|be|been|has|have|"
    r"who|which|whose|since|before|after|in|on|at|of|with|from|his|her|their|really|quite|so|not|every|my)$"
    r"|(?<![\w'])(?-i:[a-z])[\w-]*'s$"
)
_MAY_END = re.compile(r"(?i)\b(?:ever since|(?:would|could|did|does|do|was|were|is|are|has|had|will|can) not)$")
_UNCLEAR = re.compile(r"(?i)\b(?:that|this|those|these)(?=[.,;]|$)|, (?:so|and|but|then|or),")
_ASIDE = re.compile(r"^The user (?:notices?|noticed|reali[sz]e[sd]?|see|sees|saw|find|finds|found) that the user ")
_WITH = re.compile(r", the user(?: and [\w ]+)?(?=\.?$)")
"""What is left of "we're going, me and Eli"."""
_TAKEN_OUT = re.compile(r"\[ ?[\w ]+ removed ?\]")
"""What stands where something sensitive was masked."""
_QUOTED = re.compile(r'"[^"]*"')
_NEGATION = re.compile(
    r"(?i)\b(?:not|n't|never|no|nobody|nothing|none|neither|nor|without|cannot|hardly|rarely|seldom|nowhere)\b|n't\b"
)
_NAMED_TWICE = re.compile(
    r"'s (?:[\w'-]+ )?([A-Z][\w'-]+),? \1\b|'s 's|'s, |\b(\w+) \2's\b|'s's|\b([A-Z]\w+) (?:is|was) (?:called"
    r"|named) \3\b"
)


def fault(sentence: str, said: str) -> str:  # noqa: PLR0911
    """Why a sentence may not leave, in a few words, or empty if it may. ``said`` is what of the message says it."""
    plain = _QUOTED.sub('""', sentence)
    body = plain.strip(' ."!?')
    if not _LEAST_CHARACTERS <= len(sentence) <= MOST_CHARACTERS or len(body.split()) < 3:
        return "too long or short"
    if _PRONOUN_FIRST.match(plain):
        return "begins with a pronoun"
    if _OTHER_PERSON.search(plain.replace("US", "")):
        return "first or second person"
    if _UNCLEAR.search(plain):
        return "unclear pronoun"
    if _TAKEN_OUT.search(sentence):
        return "something sensitive"
    doubled = _DOUBLED.search(plain)
    if (doubled and doubled[1].lower() not in _MAY_DOUBLE) or _NAMED_TWICE.search(plain):
        return "a name or word doubled"
    if (
        (_ENDS_OPEN.search(body) and not _MAY_END.search(body))
        or plain.count("(") != plain.count(")")
        or plain.count('"') % 2
        or "?" in plain
        or "http" in plain
    ):
        return "broken grammar"
    if re.match(
        r"(?!(?:When|After|Before|While|As|If|In|At|On|Once|Since|Every|During|Until|Although|Though|"
        r"Because) )[^,]{2,40}, (?:he|she|it|they) ",
        plain,
    ):
        return "a name or word doubled"
    if re.search(r"[{}<>=\\|]|Xquote|\w+@\w|[,;:] ?[,;:]|, so,", plain):
        return "broken grammar"
    if _NEGATION.search(_QUOTED.sub("", said)) and not _NEGATION.search(plain):
        return "says less than was said"
    return ""


def finished(text: str) -> str:
    """A sentence with its capital and its full stop."""
    text = _WITH.sub("", _ASIDE.sub("The user ", text[:1].upper() + text[1:]))
    return text if text.endswith((".", '."', '!"', '?"')) else f"{text}."
