"""Wishes for discretion: secrets, questions about who sees what was said, and rules for what is said later."""

from __future__ import annotations

from .wording import SOFT, YOU, any_case

_KEEPS_A_SECRET = (
    rf"(?:(?:can|could|will|would|do) {YOU} (?:really |please |actually )?keep"
    rf"|are {YOU} (?:any )?good (?:at|with) keeping)"
    r" (?:(?:a|my|this|an? \w+) )?(?:secrets?|confidence)\b"
)
_ANNOUNCES = (
    rf"(?:(?:(?:can|could|may) i (?:tell|trust) {YOU} (?:with )?|i(?:'ve| have) (?:got )?|i'll tell {YOU} |here'?s )"
    r"a secret(?=\s*(?:[.,:;!?–—]|-+\s|$|(?:that|i|nobody|no one|and|but|please)\b|to (?:tell|share)\b))"
    rf"|(?:can|could|may) i (?:tell|trust) {YOU} (?:with )?something in confidence)"
)
"""That a secret is to come, or a secret itself: "I have a secret"; not "I have a secret recipe"."""
_BEGINS = rf"(?:^|[.!?,;:] ?){SOFT}"
_TELLS = r"tell\b(?! (?:me|us|lies|a lie)\b)"
_SECRET = any_case(
    rf"{_KEEPS_A_SECRET}|{_BEGINS}(?:{_ANNOUNCES}|in (?:strict )?confidence\b"
    rf"|(?:(?:do not|don'?t|never)(?: ever)?|{YOU} (?:must|should)(?: not|n't)) {_TELLS}"
    rf"|{YOU} can(?: ?not|'?t) tell (?:any(?:one|body)|no ?(?:one|body)|a soul|my|him|her|them)\b(?![^.!?]* apart\b)"
    rf"|(?:(?:do not|don'?t|never)(?: ever)?|{YOU} (?:(?:must|should)(?: not|n't)|can(?: ?not|'?t)))"
    r" (?:share|mention|repeat) (?:this|that|it|these) (?:to|with)\b)"
    rf"|\b(?:promise|swear)(?: me)?(?: that)?(?: {YOU} won'?t| {YOU}(?:'ll| will)? (?:not|never)| not to| never to)"
    rf"(?: ever)? (?:{_TELLS}|say\b)"
)
_BARE = any_case(
    rf"^\W*{SOFT}(?:{_KEEPS_A_SECRET}[^.!?]{{0,20}}"
    rf"|{_ANNOUNCES}(?: to (?:tell|share)(?: (?:with )?{YOU})?)?(?:,? (?:please|ok|okay))?"
    rf"(?:\W+(?:can|could|will|would|do) {YOU} keep (?:it|that|this|one)(?: (?:to yourself|safe|for me))?)?)\W*$"
)
"""A secret that is only announced, maybe with the question whether it can be kept."""
_WHO_SEES = any_case(
    rf"^\W*{SOFT}(?:"
    r"(?:who|who else|does any(?:one|body)"
    r"|can (?:my \w+(?! (?:learn|hear|look at)\b)|your \w+|any(?:one|body)|some(?:one|body)|others|other people))"
    r"(?: else)? (?:can |could |will |does )?(?:sees?|reads?|knows?|learns?|finds? out|access(?:es)?|hears?|looks? at)"
    r"(?: of| about| into)?"
    rf" (?:this|that|it|what i (?:say|write|tell)\b.*|our .*"
    r"|my (?:messages|memories|data|chats?|conversations?|talks?)\b.*)"
    rf"|(?:do|will|would) {YOU} (?:ever )?(?:share|sell|pass on|(?:tell|give|show)\b(?! (?:me|us)\b))\b.{{0,40}}\b"
    r"(?:any(?:one|body)|some(?:one|body)|others|other people|my \w+)(?: else)?"
    rf"|(?:is|are|was|will) (?:this|that|it|what i (?:say|write|tell {YOU})"
    r"|my (?:messages|memories|data|chats?|conversations?)|our (?:talks?|chats?|conversations?))"
    r"(?: here)?(?: stay| be| all| really| kept)?"
    r" (?:private|confidential|secret|safe|secure|between us|public)"
    r")\W*$"
)
_RULE = any_case(
    rf"^\W*{SOFT}(?:nothing|not a (?:single )?(?:word|thing)|no (?:word|notes?|memor(?:y|ies)))"
    r" (?:about|of|on|regarding) (?:(?:my|our|his|her|their) [\w'-]+(?: [\w'-]+){0,2}|me|[\w'-]+)"
    r"(?:[, ]+(?:ever|ever again|at all|please|from now on|in future|ok|okay|right|understood|all right|agreed)\b)+"
    r"\W*$"
    rf"|^\W*{SOFT}(?:never(?: ever)?|(?:do not|don'?t) ever) (?:remember|keep|save|store|note|record|learn|write down)"
    r" (?:anything|a word|things?|something|what i (?:say|tell you)) (?:about|of|on)\b"
    rf"|^\W*{SOFT}from now on[, ]+{SOFT}(?:do not|don'?t|never) (?:remember|keep|save|store|note|record|write down)\b"
)


def asks_for_secrecy(text: str) -> bool:
    """Whether a message tells something as a secret, or asks whether that is possible."""
    return _SECRET.search(_line(text)) is not None


def only_asks_for_secrecy(text: str) -> bool:
    """Whether a message asks if a secret can be kept, or announces one, and tells none."""
    return _BARE.match(_line(text)) is not None


def asks_who_sees(text: str) -> bool:
    """Whether a message asks who sees what is said here, or whether it stays private."""
    return _WHO_SEES.match(_line(text)) is not None


def asks_for_rule(text: str) -> bool:
    """Whether a message refuses what may be said later: "nothing about my wife, ever"."""
    return _RULE.match(_line(text)) is not None


def _line(text: str) -> str:
    return text.replace("’", "'").replace("\n", " ").strip()
