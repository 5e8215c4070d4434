"""Explicit requests to remember: "remember that …", "from now on …", "…, please remember that"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .words import ENGLISH, listed

_POLITE = (
    r"(?:(?:please|pls|oh|ok|okay|also|and|so|hey|just|only|but|by the way|can you|could you|will you|"
    r"would you|you should)[,:]? )*"
)
_REMEMBER = (
    r"(?:remember(?: only)?|keep in mind|bear in mind|don't forget|do not forget|never forget|make a note|take note"
    r"|note|for future reference|for next time|write down|make sure you remember)"
)
_ASKED = re.compile(
    rf"(?i)^{_POLITE}{_REMEMBER}(?:(?: that|:| -| (?:of )?the following)+,?:? |, (?=(?:i|my)\b)| (?=(?:i|my|"
    rf"i'm|we|our)\b))(?P<what>\S.*)"
)
_SENTENCE = re.compile(r"[^.!?\s][^.!?]*")
_NEXT_THAT = re.compile(r"(?i)(?:;(?: and)?|,(?: and)?| and) that (?=\w)|;(?: and)? (?=\w)")
_THANKS = re.compile(r"(?i)(?:,| -) (?:please|ok|okay|cheers|(?:many )?(?:thanks|thank you)(?: [\w ]{1,15})?)[.! ]*$")
_BESIDE = re.compile(r"(?i)(?:,? instead|,? (?:and |but )?(?:nothing (?:else|more)|not the (?:rest|others?)))[.! ]*$")
"""What a request says of other statements: "remember my vet is Dr Hall instead", "…, nothing else"."""
_REQUEST = re.compile(r"(?i)^(?:can|could|will|would) you\b")
_FUTURE = re.compile(rf"(?i)^{_POLITE}(?:for future reference|for next time)[,:]? (?P<what>\S.*)")
_HENCEFORTH = re.compile(
    r"(?i)^(?P<polite>(?:please |ok |so |and )*)(?:from now on|going forward|from here on|in "
    r"future)[,:]? (?:please )?(?P<what>\S.*)"
)
_HENCEFORTH_LAST = re.compile(r"(?i)^(?:please )?(?P<what>\S.*?),? from now on(?:,? please)?[.!]*$")
_ALWAYS = re.compile(
    rf"(?i)^{_POLITE}(?P<what>(?:always|never|don't ever) \w+ .*?\b(?:me|my|answers?|repl(?:y|ies)|responses?)\b.*)"
)
_POINTING = re.compile(
    rf"(?i)^{_POLITE}{_REMEMBER}(?: (?:that|this|it))?(?:,? (?:please|for me|ok|okay|thanks))*[.!]*$"
)
_POINTING_LAST = re.compile(
    rf"(?i)^(?P<what>\S.*?)(?:,| -|;)(?: and)? {_POLITE}{_REMEMBER} (?:that|this|it)(?: please)?[.!]*$"
)
_CALL_ME = re.compile(
    rf"(?i)^{_POLITE}(?:(?:yes|hi|hello|just|you (?:can|may|could))[,!.]? )*"
    r"(?P<what>call me (?P<name>\w[\w'’.-]*?(?: (?!please|thanks)\w[\w'’.-]*?)?))(?:,? (?:please|thanks))?[.!]*$"
)
_ORDER = re.compile(
    r"(?i)^(?P<no>(?:do not|don't|never|stop) )?(?P<always>always )?(?P<verb>call|keep|reply|answer|"
    r"write|speak|respond|talk|use|set|give|"
    r"send|include|add|make|put|show|explain|remind|address|be|avoid|translate|format|tell|start|end|"
    r"skip|leave|prefer|round|sign|"
    r"ask|list|check|treat|refer)\b(?P<rest> .*)?$"
)
_NO_NAMES = frozenset(
    listed(
        """later back tomorrow today tonight now when if after before at on in by for a an the once anytime maybe monday
    tuesday wednesday thursday friday saturday sunday this next any crazy old"""
    )
)
_PASSIVE = {
    "answer": "answered", "give": "given", "send": "sent", "show": "shown", "tell": "told", "ask": "asked",
    "remind": "reminded", "address": "addressed",
}  # fmt: skip
_OPENED = re.compile(r"^[^,.;:!?…–—]{1,20}[,.;:!?…–—]\s*")
"""What a message opens with before its order: "yes please, …"."""
_UNSAID = re.compile(
    r"(?i)\b(?:it|that|this|these|those|them|he|she|they|we|us|you|your|your?self|obey|secret|admin|password)\b"
)


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """The part of a sentence to be remembered, from character ``start`` to ``end``.

    ``form`` "order" is a standing instruction to the assistant, with ``order`` as a statement; "before" refers to the
    previous sentence.
    """

    form: Literal["what", "order", "before"]
    start: int = 0
    end: int = 0
    order: str = ""


def find_asked(sentence: str) -> RememberRequest | None:
    """The explicit request of a sentence; None if there is none."""
    if _POINTING.match(sentence):
        return RememberRequest("before")
    if (match := _CALL_ME.match(sentence)) and _is_name(match["name"]):
        name = match["name"].title() if match["name"].islower() else match["name"]
        return RememberRequest("order", *match.span("what"), _order(f"call me {name}"))
    for pattern in (_ALWAYS, _HENCEFORTH, _HENCEFORTH_LAST):
        match = pattern.match(sentence)
        order = _order(match["what"]) if match else ""
        if match and (order or pattern is _HENCEFORTH):
            return RememberRequest("order" if order else "what", *match.span("what"), order)
    if _REQUEST.match(sentence):
        sentence = sentence.rstrip("?!. ")
    for pattern in (_FUTURE, _ASKED, _POINTING_LAST):
        match = pattern.match(sentence)
        if match and not match["what"].endswith("?"):
            what = _BESIDE.sub("", _THANKS.sub("", match["what"]))
            order = _order(what) if pattern is not _POINTING_LAST else ""
            start = match.start("what")
            return RememberRequest("order" if order else "what", start, start + len(what), order)
    return None


def orders_keeping(text: str) -> bool:
    """Whether a message, or what follows its opening word, orders that something else than was asked be kept."""
    opened = _OPENED.sub("", text, count=1)
    asked = (find_asked(sentence) for sentence in {text, opened})
    # "Yes, please remember that" has its "what" before the order.
    return any(each is not None and (each.form == "order" or each.start > 0) for each in asked)


def split_lists(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) that make "remember that …, that … and that …" one request for each."""
    for sentence in _SENTENCE.finditer(text):
        asked = _ASKED.match(sentence[0])
        if asked is not None:
            for part in _NEXT_THAT.finditer(text, sentence.start() + asked.start("what"), sentence.end()):
                yield *part.span(), ". Remember that "


def _is_name(words: str) -> bool:
    """Whether "call me …" is followed by a name, unlike "call me later" or "call me crazy"."""
    first = words.split(maxsplit=1)[0]
    return first.lower() not in _NO_NAMES and (first[0].isupper() or first not in ENGLISH)


def _order(what: str) -> str:
    """An instruction as a statement ("call me Sam": "The user asked to be called Sam."); empty if it is none."""
    match = _ORDER.match(what.strip(" .!"))
    if not match or match["verb"].lower() in {"prefer"}:
        return ""
    verb, rest = match["verb"].lower(), (match["rest"] or "").rstrip(" .!,")
    rest = re.sub(r"(?i)[, ]+(?:please|thanks|thank you|ok|okay)$", "", rest)
    if verb == "call" and rest.lower().startswith(" me "):
        return f"The user asked {'not ' if match['no'] else ''}to be called{rest[3:]}."
    if (passive := _PASSIVE.get(verb)) and rest.lower().startswith(" me "):
        verb, rest = f"be {passive}", rest[3:]
    rest = re.sub(r"(?i)\byour (?=answers?|repl|responses?|messages?)", "", rest)
    rest = re.sub(r"(?i)\bmy\b", "the user's", re.sub(r"(?i)\b(?:me|i)\b", "the user", rest))
    if _UNSAID.search(rest) or (not rest and verb != "be"):
        return ""
    return f"The user asked {'not ' if match['no'] else ''}to {(match['always'] or '').lower()}{verb}{rest}."
