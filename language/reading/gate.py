"""The last check of a sentence: self-contained, grammatical, and no weaker than its source."""

from __future__ import annotations

import re

from language.reading.clauses import SUBJECTS
from language.reading.parse import parse
from language.reading.words import ENGLISH

MOST_CHARACTERS = 280
_LEAST_CHARACTERS, _LEAST_OF_QUOTED = 9, 5

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
_MAY_END = re.compile(
    r"(?i)\b(?:ever since|as (?:[\w'’]+ ){1,4}(?:has|have|had) been|(?:has|have|had) [^,]+ since|with the \w+ on"
    r"|(?:would|could|did|does|do|was|were|is|are|has|had|will|can) not)$"
)
_UNCLEAR = re.compile(
    r"(?i)\b(?:that|this|those|these)(?=[.,;]|$)|, (?:so|and|but|then|or),|\b(?:hers|theirs)\b"
    r"|\b(?:first|of the (?:two|three|four|five|six|others?))[.!]?$|\b(?:said|did|thought|felt|was|is) the same\b"
    r"|\b(?:said|says) (?:he|she|they|the user|[A-Z]\w+) (?:did|does|do|was|is|had|would|could)[.!]?$"
    r"|\bmore (?!than\b|or less\b)(?!.*\bthan\b)\w+"
)
"""Pronouns, and comparisons without what is compared."""
_PARTS = frozenset({"with", "since", "while", "because", "although", "though", "until"})
_OF_PERCEPTION = re.compile(
    r"^The user (?:notices?|noticed|reali[sz]e[sd]?|see|sees|saw|find|finds|found) that the user "
)
_WITH = re.compile(r", the user(?: and [\w ]+)?(?=\.?$)")
"""The rest of a dislocated "we": "we're going, me and Eli"."""
_TAKEN_OUT = re.compile(r"\[ ?[\w ]+ removed\b")
"""The placeholder of a masked sensitive value; its bracket may be lost at the end of a sentence."""
_OPENING = re.compile(
    r"^(?:(?:one|another|a) (?:more |last |other |final )?thing|by the way|oh|also|anyway|certainly|well|right"
    r"|dear [^,]+)[,:] ",
    re.I,
)
_SPOKEN = re.compile(
    r"(?i), no,|\blet the user\b|^(?:please|certainly|surely|exactly|yes|no|well|right|mostly|anyway|because there)\b"
    r"|^[^,]+(?:,| but) (?:is|are) (?!\w+ing\b)|\band so (?:do|did|does)\b|\b(?:all|both) (?:has|is|was)\b"
    r"| and (?-i:[A-Z])[\w-]+ (?:all|both) (?!of\b)|^in \d{1,2},? (?-i:[A-Z]|the user)"
    r"|\b(?:is|was) the (?:first|second|third|last|other|one)[.!]?$|\bwould (?:one|the|an?|enough|some|no)\b"
    r"|\b(?:had|would|could|should) of (?!course)|^(?-i:[A-Z])\w+s (?:in|at|on|with|to|for) [^,]+, the user\b"
    r"|^the user's [^,]{3,40}, the user (?:is|was|has)\b"
    r"|^(?:one|two|three|\d+)\b[^,]{0,30}, [^,]+, (?:he|she|it|they|the user)\b|\w\w\. \d{1,3}\.$"
    r"|^the user (?:(?:cannot|can|could|would|did|does)|(?:loses|drops|misses) the \w+"
    r"|is (?:at work|at home|home|here|there|back|off|away|out|in bed|on the (?:bus|train|phone)))[.!]?$"
)
"""Speech disfluencies ("fell on the ice, no, what am I saying"), imperatives, and sentences with too little content."""
_UNKNOWN_WORD = re.compile(
    r"^The user (?!\w+ly\b|(?:still|now|often|sometimes|once|already|seldom|even|later|first)\b)([a-zà-ÿ]+) "
    r"(?:is|was|has|had|works|lives|goes|went|said|says|speaks)\b"
)
_OF_USER_TWICE = re.compile(r"\b([Tt]he user's \w+)(?: ([A-Z]\w+))?\b.*\b(?i:\1)(?(2) \2|(?! [A-Z]))\b")
_QUOTED = re.compile(r'"[^"]*"')
_NEGATION = re.compile(
    r"(?i)\b(?:not|n't|never|no|nobody|nothing|none|neither|nor|without|cannot|hardly|rarely|seldom|nowhere)\b|n't\b"
)
_NAMED_TWICE = re.compile(
    r"'s (?:[\w'-]+ )?([A-Z][\w'-]+),? \1\b|'s 's"
    r"|^(?!The\b)([A-Z]\w+) [^,]*\b(?:about|with|to|of|for) \2(?!['\w])"
    r"|\b([A-Z]\w+)'s (?:\w+ )?\3\b|(?<!St )\b[\w-]+'s, |\b(\w+) \4's\b|'s's|\b([A-Z]\w+) (?:is|was) (?:called "
    r"|named )?\5\b|\b([A-Z]\w+)'s name (?:is|was) \6\b"
)


def rejection_reason(sentence: str, said: str) -> str:  # noqa: PLR0911
    """Why a sentence is rejected, in a few words; empty if it is accepted. ``said`` is its source in the message."""
    plain = _QUOTED.sub('""', sentence)
    body = plain.strip(' ."!?')
    least, said_words = (3, body) if plain == sentence else (_LEAST_OF_QUOTED, sentence)
    if not _LEAST_CHARACTERS <= len(sentence) <= MOST_CHARACTERS or len(said_words.split()) < least:
        return "too long or short"
    if _PRONOUN_FIRST.match(plain):
        return "begins with a pronoun"
    if _OTHER_PERSON.search(plain.replace("US", "")):
        return "first or second person"
    if _UNCLEAR.search(plain):
        return "unclear pronoun"
    if _TAKEN_OUT.search(sentence):
        return "something sensitive"
    apart = _UNKNOWN_WORD.match(plain)
    if _SPOKEN.search(plain) or (apart is not None and apart[1] not in ENGLISH):
        return "broken grammar"
    doubled = _DOUBLED.search(plain)
    if (doubled and doubled[1].lower() not in _MAY_DOUBLE) or any(
        each.search(plain) for each in (_NAMED_TWICE, _OF_USER_TWICE)
    ):
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
        r"Because) )[^,]{2,40}, (?:he|she|it|they) "
        r"|[A-Z]\w+s, the user(?:'s \w+)? (?:still |always |never )?(?:said|is|was|has|had|does|did|\w+ed)\b",
        plain,
    ):
        return "a name or word doubled"
    if re.search(r"[{}<>=\\|]|Xquote|\w+@\w|[,;:] ?[,;:]|, so,", plain):
        return "broken grammar"
    if _NEGATION.search(_QUOTED.sub("", said)) and not _NEGATION.search(plain):
        return "says less than was said"
    return ""


def is_whole(sentence: str) -> bool:
    """Whether a sentence is parsed as one main clause with its subject, and begins with no "since", "with" or "not"."""
    parsed = parse(sentence)
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None or root.pos not in {"VERB", "AUX"}:
        return parsed is not None  # It says too little of a parse that finds no verb.
    own = parsed.children(root)
    first = parsed.words[0]
    has_subject = any(each.dep in SUBJECTS for each in own) or first.pos in {"ADP", "SCONJ", "ADV", "DET"}
    is_order = first.tag == "VB" and first.dep == "advcl"  # "Hang on, the user has a fare."
    is_part = any(each is first and (each.dep == "neg" or (each.dep == "mark" and each.low in _PARTS)) for each in own)
    spliced = [each for each in own if each.dep == "ccomp" and each.index < root.index]
    is_spliced = len(spliced) > 1 and '"' not in sentence
    return has_subject and not (is_part or is_order or is_spliced)


def punctuated(text: str) -> str:
    """The sentence with its capital and full stop, without opening discourse markers."""
    text = _OPENING.sub("", text)
    text = _WITH.sub("", _OF_PERCEPTION.sub("The user ", text[:1].upper() + text[1:]))
    return text if text.endswith((".", '."', '!"', '?"')) else f"{text}."
