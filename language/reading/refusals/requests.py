"""Find requests not to keep something, and whether they name their content or refer to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from language.reading.words import listed

from ..parse import Parsed, parse
from .judged import has_cue, judged_spans
from .offers import objects
from .wording import (
    ENDING,
    FORGOTTEN,
    FORMS,
    KEEPS_ONLY,
    LAST,
    ORDERED,
    PLACE,
    POINTED,
    SOFT,
    YOU,
    after_opening_no,
    any_case,
    is_clear_no,
    says_no,
    without_soft_words,
)


@dataclass(frozen=True, slots=True)
class RefusalRequest:
    """A request: characters ``start`` to ``end`` of a message, and the words that name what is meant (``named_text``).

    Without them it refers to what follows (``refers_ahead``), to the last sentence (``refers_to_last``), or to what
    precedes it. ``covers_all``: everything about what is named is meant.
    """

    start: int
    end: int
    named_text: str = ""
    covers_all: bool = False
    refers_ahead: bool = False
    refers_to_last: bool = False
    needs_recent_match: bool = False
    """Applies only if what it names was just said: "don't remember the rent" may lack an "I"."""
    is_learned: bool = False
    """Found by the network; what it names, if anything, is among its own words."""


_MAY = any_case(
    r"\b(?:not|stop remembering|n't|don'?t|dont|no|nah|nope|never|forget|erase|delete|remove|scratch|scrap|strike|scrub"
    r"|drop|wipe"
    r"|disregard|ignore|un-?\w+|take|not|n't|would|between|record|out|private|confidential|secret|yourself|pretend|hear|heard|nothing|stays?|ends|dies|nein|non|n[aã]o|nee|rather)\b|n't\b"
)

_SOMEBODY = r"(?:i|we|he|she|they|my|our|his|her|their)"
_SAID = r"i (?:just |ever )?(?:said|told (?:you|u)|wrote|mentioned)(?: to you)?"
_TOLD = any_case(rf"\b{_SAID}\b")
_DAYS = (
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|"
    "November|December|Christmas|Easter"
)
_NAMING = [
    # That I told you about it; that I ever mentioned that. Telling is not what is named.
    any_case(
        rf"(?:(?:that|the fact that) )?{_SAID}(?: (?P<whole>anything)| (?:something|a word|once|before|earlier))?"
        r" (?:about|of|on|that|how) (?P<what>\S.*)"
    ),
    any_case(rf"(?:(?:that|the fact that) )?i (?:just |ever )?(?:mentioned|told {YOU}|said) (?P<what>\S.*)"),
    # What I said about it; everything you know of it; the memory that …; that I live there; the part about it.
    any_case(
        rf"(?P<whole>what|everything|anything|all(?: that)?|the things?)? ?{_SAID} (?:about|of|on) (?P<what>\S.*)"
    ),
    any_case(
        rf"(?P<whole>what(?:ever)?|everything|anything|all(?: that)?) {YOU} (?:know|remember|have|noted|saved)"
        r" (?:on|about|of) (?P<what>\S.*)"
    ),
    any_case(r"(?P<whole>all)? ?(?:the |your |any )?(?:memor(?:y|ies)|notes?) (?:that|of|about|on) (?P<what>\S.*)"),
    any_case(rf"(?:that|the fact that) (?P<what>{_SOMEBODY}\b.*)"),
    # That Piet plays the cello; not that Sunday at the lake.
    any_case(
        rf"(?:that|the fact that) (?P<what>(?-i:(?!(?:{_DAYS})\b)[A-Z])[\w'-]+ (?!(?:at|in|on|when|with|of)\b)\w+\b.*)"
    ),
    any_case(r"(?:the|that|my|this) (?P<what>[\w'-]+(?: [\w'-]+)?) (?:thing|part|bit|story|business|stuff)"),
    any_case(
        r"(?P<whole>any|every|all|no|not a word)?(?:the |that |this |a |my )?(?:whole |(?:very )?last "
        r"|previous )?(?:one|thing|part|bit|story|stuff|matter|business|word|sentence|message|remark|piece|fact)?s?"
        rf"(?: (?:that )?{_SAID})? ?(?:about|regarding)"
        r" (?P<what>\S.*)"
    ),
]
_WHERE = any_case(
    r"(?P<what>(?:where|when|what|who|how|which)(?: [\w']+)? (?:i|we|he|she|they|my|our|his|her|their|the)\s.*\S)"
)
_CLAUSE = any_case(r"(?P<what>(?:i|we|he|she|they) (?!ever\b|just\b)[\w']+ \S.*)")
"""What is to be forgotten, without "that": "forget I hate coriander"."""
_NAME = re.compile(rf"(?!(?:{_DAYS})\b)[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_WAS = any_case(r"\b(?:\w+ed|was|put|were|did|left|met)\b")
_OWNED = any_case(r"(?P<what>(?:my|our|his|her|their|[\w']+'s)\s.*\S)")
_THE = any_case(r"(?P<what>(?:the|i|we|he|she|they)\s.*\S)")
_OBJECT_END = any_case(
    r"[;!?–—…()]|(?<!\d)[,.:]|[,.:](?!\d)|\s-+\s"
    r"|\s(?:but|because|since|so|and (?:please|that|then|don't|do not|i|it))\s"
)
_POINTS = any_case(rf"\s*(?:{POINTED})?{ENDING}\s*(?:from (?:your |ur )?(?:memory|memories|notes))?\s*")
_POINTS_LAST = any_case(rf"\s*(?:about )?{LAST}{ENDING}\s*")
_TAIL = any_case(rf"\s+(?:{PLACE}|down|please|pls|ok|okay|thanks|anymore|any more|again|now)\s*$")
_PLACED = any_case(PLACE)
_TELLING = any_case(r"write|note|mention|put|jot|make|say|tell")
_ASKS_POLITELY = any_case(r"\b(?:can|could|would|will|please|pls|want)\b")
_POLITE = any_case(rf"\b(?:please|pls)\b|\b{YOU} (?:can|may)\b|\b(?:like|want) {YOU} to\b")
_REGRETS = any_case(r"\bi (?:should not|shouldn'?t|should never) have (?:said|told|mentioned|written)\b")
_GOES_ON = any_case(r"\s*[,–—-]\s*(?:it was|i meant|(?:he|she|they)'d|i mean|i'll|i will|let's|tell me|make it)\b")
_ABOUT = any_case(
    r"\s*[,–—-]\s*(?:the (?:one|bit|part|thing) )?(?:about|regarding) (?P<what>[\w'-]+(?: [\w'-]+){0,4})(?=[.!]*\s*$)"
)
"""What a request names after it has pointed: "scratch that last one, about coriander"."""
_DISPUTES = any_case(r"(?:\b(?:is|are|was|were)|'s)(?: \w+)? (?:wrong|untrue|false|incorrect|outdated)\W*$")
"""What is said to be wrong is corrected, not refused."""
_OF_OTHER_THINGS = any_case(r"\bthe (?:rest|others?)\b|\b(?:give|given|gave|giving) (?:\w+ )?up\b|\bin between\b")
"""What sounds like a refusal to the network: "forget the rest", which ``parts`` reads, and "I've given up"."""
_HASTY = frozenset({"ignore", "disregard", "drop", "remove"})
_AHEAD = any_case(r"\s*(?::|but\b|,\s*but\b)")
_ONLY_SOFT = any_case(SOFT)
_THAT = any_case(r"\b(?:that|it)\b")
_OPENING = any_case(r"[^.]*\b(?:record|between)\b|.{0,12}\bnot\b")
_LONGEST_OBJECT = 200
_MOST = 10
"""The most matches per kind that are examined."""
SAYS_THIS = any_case(r"\b(?:this(?! (?:conversation|talk|chat|exchange)\b)|these|following|next)\b")


def flat(text: str) -> str:
    """The text on one line, with the same length."""
    return text.replace("’", "'").replace("\n", " ")


def may_refuse(text: str) -> bool:
    """Whether a text may contain a refusal, without parsing; most texts have no such word."""
    line = flat(text)
    no = says_no(line, goes_on=True) or is_clear_no(line) or objects(line) or after_opening_no(line) != ""
    return no or bool(acts_in(line)) or has_cue(line) or _is_ordered(line) or KEEPS_ONLY.search(line) is not None


_UNDO = any_case(
    rf"(?:(?:no|oh|oops|wait|sorry|hm+|actually|i (?:said|meant))\b[ ,.!:]*)*{SOFT}(?:(?:can|could|would|will) {YOU} )?"
    rf"{SOFT}(?:(?:undo|revert|roll back)"
    r"(?: (?:that|this|it|(?:that|this|the|your)(?: last)? (?:change|update|correction|edit|one)))?"
    r"|(?:take|put|change|bring) (?:that|this|it) back)(?: again)?"
    r"(?:,? (?:please|pls|thanks))?[.!?]*"
)


def says_undo(text: str) -> bool:
    """Whether a message asks to undo the last change, and nothing else."""
    return _UNDO.fullmatch(text.strip().replace("’", "'")) is not None


def asked_by_person(text: str, finding: Callable[[str], list[RefusalRequest]]) -> Iterator[RefusalRequest]:
    """The requests that ``finding`` finds in a text, in order, without reported ones."""
    found = finding(line := flat(text))
    parsed = parse(line) if found else None
    return (act for act in found if parsed is None or not is_reported(parsed, act))


def acts_in(line: str) -> list[RefusalRequest]:
    """The requests found by patterns, without overlaps and quotations."""
    if _MAY.search(line) is None:
        return []
    taken: list[RefusalRequest] = []
    found = (act for acts in (_ordered(line), _forgotten(line), _formed(line)) for act in islice(acts, _MOST))
    for act in sorted(found, key=lambda each: (each.start, -each.end)):
        if not (taken and act.start < taken[-1].end) and not _is_quoted(line, act.start):
            taken.append(act)
    return taken


def names_what_was_said(text: str) -> bool:
    """Whether a sentence asks to forget what it names, or what the person said before, and says nothing itself."""
    line = flat(text)
    return any(
        FORGOTTEN.match(line, act.start) or _TOLD.search(line, act.start, act.end)
        if act.named_text
        else not any(map(str.isalnum, without_soft_words(line[: act.start] + line[act.end :])))
        for act in acts_in(line) or judged_acts(line)
    )


_TOLD_OF = any_case(
    r"\bwhat i (?:just |ever )?(?:said|told (?:you|u)|wrote|mentioned)(?: to you)? (?:about|of|on) ([^,.;!?]+)[^a-z]*$"
)
_ASKS_IT = any_case(r"\b(?:can|could|would|will) (?:you|u)\b")


NAMED_AFTER = any_case(r"\bthat (?P<what>(?:I|my|we|our)\b.*)")
"""What a request names behind itself: "You had better lose it, that I drink"."""


def named_before(text: str) -> str:
    """What a text just before a request names to forget: "what I told you about my knees? Well, un-remember it"."""
    named = _TOLD_OF.search(without_soft_words(_ASKS_IT.sub(" ", flat(text))))
    return named[1].strip() if named else ""


_OF_ALL = any_case(
    r"\b(?:everything|all)\b[\w ]*\b(?:know|have|remember\w*|stored?|saved?|kept|learn\w*)\b[\w ]*\b(?:about|on|of)"
    r" me\b|\bmy (?:memor(?:y|ies)|data|account)\b|^\W*(?:please )?\w+ (?:everything|about me)\W*$"
)


def asks_to_forget_all(text: str) -> bool:
    """Whether a request to forget means all that is known of the person, not what they said last."""
    return _OF_ALL.search(flat(text)) is not None


def judged_acts(line: str) -> list[RefusalRequest]:
    """The requests found by the network."""
    spans = judged_spans(line, ordered=_is_ordered(line))
    asking = (
        span
        for span in spans
        if not (_is_quoted(line, span[0]) or _DISPUTES.search(line, *span) or _OF_OTHER_THINGS.search(line, *span))
    )
    return [_ahead(line, RefusalRequest(*span, is_learned=True)) for span in asking]


def _is_ordered(line: str) -> bool:
    """Whether a pattern matches an order not to keep something, whatever it names."""
    return _MAY.search(line) is not None and (ORDERED.search(line) or FORGOTTEN.search(line)) is not None


def _ordered(text: str) -> Iterator[RefusalRequest]:
    """Requests not to keep something: "please don't write down …"."""
    for match in ORDERED.finditer(text):
        what, end = _object(text, match.end("act"))
        placed = _PLACED.search(what) is not None
        act = _pointing(match.start("act"), end, what)
        if act is None:
            named = _named(what, the=placed or _TELLING.match(match["verb"]) is not None)
            where = _WHERE.match(what) if named is None else None
            if where is not None and not _WAS.search(what):
                named = where["what"], False
            bare = (
                named is None and _THE.match(what) is not None and what.lower().startswith(("the ", "this ", "that "))
            )
            act = RefusalRequest(match.start("act"), end, *named) if named is not None else None
            act = RefusalRequest(match.start("act"), end, what, needs_recent_match=True) if bare else act
        if act is not None and not (match["verb"].lower() == "mention" and what.startswith("it")):
            yield _ahead(text, act)


_THANKS = any_case(r"\b(?:please|pls|thanks|thank you|thx|cheers)\b")


def _forgotten(text: str) -> Iterator[RefusalRequest]:
    """Requests to forget something: "forget what I said about …". A self-correction is none."""
    for match in FORGOTTEN.finditer(text):
        verb, (what, end) = match["verb"].lower(), _object(text, match.end("act"))
        placed, goes_on = _PLACED.search(what) is not None, any(map(str.isalnum, _THANKS.sub("", text[end:])))
        act = _pointing(match.start("act"), end, what)
        if text[end : end + 1] == "?" and _ASKS_POLITELY.search(match["act"]) is None:
            continue
        if act is not None:
            hasty = what in {"", "it"} or (verb in _HASTY and not placed and not _POINTS_LAST.fullmatch(what))
            regrets = _REGRETS.search(text[: match.start("act")]) is not None
            if (
                hasty and not regrets and _POLITE.search(match[0] + " " + what + text[end : end + 9]) is None
            ) or _GOES_ON.match(text[end:]):
                continue
            about = _ABOUT.match(text, end)
            yield act if about is None else RefusalRequest(act.start, about.end(), about["what"])
        elif not (what.lower().startswith("about ") and (goes_on or verb != "forget")):
            owned = placed or (verb == "forget" and not goes_on)
            # As a message of its own it names what is known: "Forget the pottery." Of a recipe it is said in an answer.
            is_all = (
                verb == "forget" and not goes_on and not without_soft_words(text[: match.start("act")]).strip(" ,.!")
            )
            named = _named(what, owned=owned, the=placed or is_all)
            if named is None and verb == "forget" and not goes_on:
                told = _WHERE.match(what) or _CLAUSE.match(what)
                named = (told["what"], False) if told is not None else (what, True) if _NAME.fullmatch(what) else None
            if named is not None:
                yield RefusalRequest(match.start("act"), end, *named)


def _formed(text: str) -> Iterator[RefusalRequest]:
    """Other forms: "that stays between us"."""
    for form in FORMS:
        for match in form.finditer(text):
            what = re.sub(r"^(?:about|of)\s+", "", (match.groupdict().get("what") or "").strip())
            act = _pointing(match.start("act"), match.end("act"), "" if what.lower() == "which" else what)
            act = act or RefusalRequest(match.start("act"), match.end("act"), what, covers_all=True)
            opens = _OPENING.match(match["act"]) is not None and not _THAT.search(match["act"])
            yield _ahead(text, act, opens=opens)


def _object(text: str, start: int) -> tuple[str, int]:
    """The object of a verb up to the end of its clause, and its end."""
    stop = _OBJECT_END.search(text, start)
    end = min(stop.start() if stop else len(text), start + _LONGEST_OBJECT)
    return text[start:end].strip(), end


def _pointing(start: int, end: int, what: str) -> RefusalRequest | None:
    """An act that only refers; None where the content is named."""
    if _POINTS_LAST.fullmatch(what):
        return RefusalRequest(start, end, refers_to_last=re.search("last|previous", what, re.IGNORECASE) is not None)
    return RefusalRequest(start, end) if _POINTS.fullmatch(what) else None


def _named(what: str, *, the: bool, owned: bool = True) -> tuple[str, bool] | None:
    """What words name, and whether everything about it is meant; None if they name a thing, not a statement."""
    while (shorter := _TAIL.sub("", what)) != what:
        what = shorter
    for form in _NAMING:
        if named := form.fullmatch(what):
            return named["what"], bool(named.groupdict().get("whole"))
    for form in [*([_OWNED] if owned else []), *([_THE] if the else [])]:
        if named := form.match(what):
            return named["what"], False
    return None


def _ahead(text: str, act: RefusalRequest, *, opens: bool = False) -> RefusalRequest:
    """The act, with ``ahead`` set if a colon follows or "this" introduces what follows."""
    before, after = text[: act.start].strip(), text[act.end :]
    follows = _AHEAD.match(after) is not None and bool(after.strip(" :,.!?"))
    says_this = SAYS_THIS.search(text[act.start : act.end]) is not None
    begins = says_this and (not before.strip(" ,.!-") or _ONLY_SOFT.fullmatch(before + " ") is not None)
    points_on = follows or ((opens or begins) and bool(after.strip(" .!?,")))
    return replace(act, refers_ahead=True) if points_on and not act.named_text else act


def _is_quoted(text: str, start: int) -> bool:
    """Whether a position is inside quotation marks."""
    before = text[:start]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”") or before.count("«") > before.count("»")


_REPORTING = listed("say tell ask think write shout whisper answer reply want beg warn order repeat")
_SPEAKERS = frozenset({"you", "u", "i"})


def is_reported(parsed: Parsed, act: RefusalRequest) -> bool:
    """Whether the request is reported speech: its clause depends on "he said", or the other way round."""
    words = [word for word in parsed.words if act.start <= word.start < act.end]
    before = [word for word in parsed.words if word.start < act.start and word.low != "please"][-1:]
    inside = {word.index for word in words}
    linked = {"ccomp", "xcomp", "acl", "advcl", "parataxis", "nsubj"}
    heads = [parsed.head(word) for word in words if word.dep in linked and word.head not in inside]
    heads += [each for word in words for each in parsed.children(word) if each.dep == "parataxis"]
    for head in [*heads, *before]:
        subject = parsed.child(head, "nsubj", "nsubjpass")
        if head.lemma in _REPORTING and subject is not None and subject.low not in _SPEAKERS:
            return True
    return False
