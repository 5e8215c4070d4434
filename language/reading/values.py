"""The value that a message gives in place of a memory's: a day, date, time or number, or words set against others.

"It isn't Tuesday but Thursday", "now €200 (previously 150)", "it's Kiko, not Koko", "from Trello to Linear".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from . import clock
from .figures import MONTHS, ORDINALS
from .parse import Parsed, Word, parse
from .stems import LIGHT
from .words import NUMERALS, TITLES, listed

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = [*ORDINALS, *(f"{ten}-{word}" for ten in ("twenty", "thirty") for word in ORDINALS[:9])]
_ORDINALS[29:29] = ["thirtieth"]
_TIMES = ("once", "twice")
_WORDS = {number: word for word, number in NUMERALS.items()}
_MOST_IN_WORDS, _FIRST_YEAR, _LAST_YEAR, _MOST_TIMES = 20, 1000, 2100, 5
_MONTH = rf"(?P<month>(?:{'|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in MONTHS)})|sept)\b"
_NTH = r"(?P<day>\d\d?)(?P<th>st|nd|rd|th)?"
_NUMERAL = "|".join(word for word in NUMERALS if word not in {"zero", "one"})
_GLUED = "k|km|m|cm|mm|kg|g|mg|l|ml|h|min|lbs?|mph|gb"
"""Units that are written right behind a number: "8k"."""
_ENDS_THERE = re.compile(r"\s*(?:[.,;:!?]|$|now\b|instead\b|not\b)", re.IGNORECASE)
"""What follows an ordinal in words that is a day: "the thirteenth, not the third"."""
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_HOURS = range(1, 13)
_KINDS = {
    "date": rf"\b(?:(?:{_NTH}|(?P<spelt>{_ORDINAL})) (?:of )?{_MONTH}|{_MONTH.replace('<month', '<first')} (?:the )?"
    rf"{_NTH.replace('<day', '<later').replace('<th', '<nd')}(?![\d:]))",
    "month": rf"\b{_MONTH}(?: (?P<year>\d{{4}}))(?!\d)",
    "time": clock.PATTERN,
    "times": rf"\b(?:(?P<word>{'|'.join(_TIMES)})|(?P<count>\d+|{_NUMERAL})(?: times|x))\b",
    "day": r"\b(?:(?P<full>mon|tues|wednes|thurs|fri|satur|sun)days?|(?P<short>tues?|weds?|thu(?:rs?)?|fri|mon))\b"
    r"|\b(?-i:(?P<proper>Sat|Sun))\b",
    "ordinal": rf"\b(?:(?P<nth>{_ORDINAL})|(?P<digits>\d+)(?:st|nd|rd|th))\b",
    "number": rf"(?<![\w.,:-])(?<!past )"
    rf"(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?|{_NUMERAL})(?P<glued>(?<=\d)(?:{_GLUED}))?"
    r"(?![\w:-]|[.,]\d| (?:thirty|fifteen)\b)",
}
_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _KINDS.items()}
_BEFORE_OLD = re.compile(
    r"(?:\b(?:not|no (?:longer|more)|never|instead of|rather than|previously|formerly|(?<!it )(?<!that )was|were"
    r"|used to be|from|(?:I|you|it)(?: keep)? (?:said|say(?:ing)?|wr(?:ot|it)e|writing|typed|put|told you)|did I say"
    r"|until now)|n['’]t)(?: (?:on|at|in|for|of|the|a|an|my|our|only|just|first|second|third|fourth|last))*\s*$",
    re.IGNORECASE,
)
_AFTER_OLD = re.compile(
    r"\s*(?:->|→|\?|before\b|(?:\w+ )?any ?(?:more|longer)\b|(?:is|are) (?:wrong|over|history|off|free|taken|gone)"
    r"|(?:(?:thing|one|slot|mornings?|evenings?|afternoons?) )?(?:was|were)\b(?! born))",
    re.IGNORECASE,
)
_NTH_BEFORE = re.compile(rf"\b(?:{_ORDINAL}|last)\s*$", re.IGNORECASE)
_NOW_BEFORE = re.compile(r"(?:->|→|\bnow|\bto|\bmeant|\bit['’]s|\bbut)\s*(?:on |at |in |the |a |an )*$", re.IGNORECASE)
_CLEFT = re.compile(
    r"(?i)\bit(?:['’]s| is| was) (?P<what>(?:(?:the|an?|my) )?[\w-]+(?: [\w-]+)?) (?:that|which) "
    r"(?P<who>I|we|he|she|they) (?P<does>\w+)"
)
_NOW_AFTER = re.compile(r"\s*(?:now|these days|nowadays|from now on|instead)\b", re.IGNORECASE)
_IT_IS = r"(?:it|he|she|they|that|this)(?:['’](?:s|re)| is| are)"
_FEW = r"(?:(?:a|an|the|my|our|his|her)\s+)?[\w'’-]+(?:\.\w+)*(?:\s+[\w'’-]+){0,3}?"
_FROM_WORD = (
    r"(?=\s*(?:[.,;:!?)(–—]|$|\b(?:now|at|in|on|for|since|because|and|but|when|as|with|last|this|these|which|who|from"
    r"|so|by|after|before|instead|any|btw|lol|always|everyone|i)\b))"
)
"""What follows a name or noun phrase: a new clause or phrase, or the end."""
_SWAPS = [
    re.compile(pattern.format(now=rf"(?P<now>{_FEW})", was=rf"(?P<was>{_FEW})", end=_FROM_WORD), re.IGNORECASE)
    for pattern in (
        r"\bnot {was},? but (?:rather )?{now}{end}",
        r"n['’]t {was}(?: any ?more)?[,;.]? (?:but|" + _IT_IS + r"(?: now)?) {now}{end}",
        r"\b(?:no longer|not) (?:called )?{was}(?: any ?more)?[,;.] " + _IT_IS + r" (?:now )?{now}{end}",
        r"\b(?:is|are|was|['’]s|called|named|learning|meant|mean|it['’]s|make (?:it|that)) "
        r"(?:actually |really )?{now}(?: with an? \w)?,? "
        r"(?:and )?not {was}{end}",
        r"^(?:(?:sorry|no|actually|wait|oops|oh)\b[,:]? ?)*not {was}[,;–—] ?{now}[.!]*$",
        r"^(?:sorry|no|actually|wait|oops)?[,:]? ?{now}, not {was}{end}",
        r"\b(?:switched|swapped|changed|moved|went|swap|switch|renamed)\b[^.!?]{{0,40}}? from {was} to {now}"
        r"{end}",
        r"\b(?:swapped|traded|exchanged|switched) {was} (?:in for|for|to) {now}{end}",
        r"\b{was} is history[,;.:] (?:(?:and|from now on|now),? )*(?:we['’]re|we trade as|it['’]s) {now}{end}",
        r"^(?:[\w ]+: )?(?:moved |from )?{was} ?(?:->|→) ?{now}{end}",
        r"\bdid I say {was}\? I mean[t]? {now}{end}",
        r"\b(?:is|['’]s) (?:now )?{now},? I (?:wrote|said|typed|put) {was}{end}",
    )
]
_SAID_TO_BE = re.compile(r"^.*\b(?:is|are|was|were|called|named|learning)\s+", re.IGNORECASE)
_MAYBE_ARTICLE = r"(?:(?:an?|the|my|our|his|her) )?"
_AND_NOT = re.compile(
    rf",? (?:and )?not (?:(?:in|at|on|with|for|to) )?{_MAYBE_ARTICLE}(?P<was>{_FEW}){_FROM_WORD}", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:a|an|the|my|our|his|her)\s+", re.IGNORECASE)
_NAMED = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "X"})
_NO_VALUE = LIGHT | listed("i am me you it him her them this that other another something someone one what where")
_OF_A_NAME = re.compile(rf"(?:(?:[a-z][A-Z]|[A-Z]{{2}})\w*|\b(?:{_NUMERAL}))\s$")
"""What a number after it belongs to: "iPhone 12", "nine thirty"."""
_CURRENCY = "€$£"


@dataclass(frozen=True, slots=True)
class NewWording:
    """A memory with the value that a message gives in its place. ``contrasts``: the message denies the old one.

    ``at`` is the position of the new value in the message.
    """

    content: str
    contrasts: bool
    at: int


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of a text: equal ``key`` means the same. ``unit`` is the lemma of what a number counts, or ''."""

    kind: str
    key: tuple[int | float, ...]
    match: re.Match[str]
    unit: str = ""

    @property
    def before(self) -> str:
        """The text before it."""
        return self.match.string[: self.match.start()]

    @property
    def after(self) -> str:
        """The text after it."""
        return self.match.string[self.match.end() :]


def new_wording(memory: str, said: str) -> NewWording | None:
    """Return the wording of a memory with a message's value; None if the message gives none, or it is unclear which."""
    said = _CLEFT.sub(r"\g<who> \g<does> \g<what>", said)
    return _of_values(memory, said) or _of_words(memory, said)


def tells_value(text: str) -> bool:
    """Whether a text has a day, date, time or number."""
    return any(True for _ in _values(text))


def values_in(text: str) -> frozenset[tuple[str, tuple[int | float, ...]]]:
    """Return the days, dates, times and numbers of a text, each with its kind, without parsing it."""
    return frozenset((each.kind, each.key) for each in _values(text, units=False))


# --- Days, dates, times, numbers --------------------------------------------------------------------------------------


def _of_values(memory: str, said: str) -> NewWording | None:
    told, changes, contrasts = list(_values(said)), [], False
    known = list(_values(memory))
    for old in known:
        if sum(each.kind == old.kind for each in known) > 1:
            continue
        alike = [each for one in told if (each := _as_kind(one, old)) is not None]
        denied = [each for each in alike if _is_denied(each, said)]
        if old.kind == "number" and any((each.kind, each.key, each.unit) == (old.kind, old.key, "") for each in denied):
            alike = [each for each in told if each.kind == old.kind]  # Whatever their units: "88 kg (previously 92)".
        new = {each.key: each for each in alike if each not in denied and each.key != old.key}
        if len(new) > 1:
            new = {key: each for key, each in new.items() if _holds_now(each, said)}
        repeated = any(each.key == old.key and each not in denied for each in alike)
        if len(new) > 1 or (new and repeated and not _holds_now(next(iter(new.values())), said)):
            return None
        if not new:
            continue
        changes.append((old, next(iter(new.values()))))
        contrasts = contrasts or repeated or any(each.key == old.key for each in denied)
    content = memory
    for old, value in sorted(changes, key=lambda each: each[0].match.start(), reverse=True):
        content = content[: old.match.start()] + _written_as(old, value) + content[old.match.end() :]
    return NewWording(content, contrasts, changes[0][1].match.start()) if changes else None


def _values(text: str, *, units: bool = True) -> Iterator[_Value]:
    """Yield the values of a text, none inside another."""
    left, parsed = text, None
    for kind, pattern in _PATTERNS.items():
        for match in list(pattern.finditer(left)):
            left = left[: match.start()] + "\0" * len(match[0]) + left[match.end() :]
            unit = ""
            if kind == "number":
                if _OF_A_NAME.search(text[: match.start()]):
                    continue
                parsed = parsed or (parse(text, names=False) if units else None)
                unit = (match["glued"] or "").lower() or _unit(text, match, parsed)
            yield _Value(kind, _key(kind, match), match, unit)


def _key(kind: str, match: re.Match[str]) -> tuple[int | float, ...]:
    found = clock.groups_of(match)
    number = (found.get("count") or found.get("number") or "").replace(",", "")
    if kind == "date":
        key: tuple[int | float, ...] = (
            1 + _ORDINALS.index(found["spelt"]) if "spelt" in found else int(found.get("day") or found["later"]),
            _month(found.get("month") or found["first"]),
        )
    elif kind == "month":
        key = _month(found["month"]), int(found["year"])
    elif kind == "time":
        key = clock.key_of(found)
    elif kind == "day":
        key = (next(at for at, day in enumerate(_DAYS) if day.lower()[:3] == next(iter(found.values()))[:3]),)
    elif kind == "ordinal":
        key = (int(found["digits"]) if "digits" in found else 1 + _ORDINALS.index(found["nth"]),)
    elif "word" in found:
        key = (1 + _TIMES.index(found["word"]),)
    else:
        key = (NUMERALS[number] if number in NUMERALS else float(number),)
    return key


def _month(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, 1) if month[:3] == name[:3])


def _unit(text: str, match: re.Match[str], parsed: Parsed | None) -> str:
    if text[: match.start()].endswith(tuple(_CURRENCY)) or parsed is None:
        return ""
    word = next((each for each in parsed.words if each.start == match.start()), None)
    head = parsed.head(word) if word is not None and word.dep == "nummod" else None
    return head.lemma.lower() if head is not None and head.index > (word.index if word else 0) else ""


def _as_kind(told: _Value, old: _Value) -> _Value | None:
    """Return a value of a message as one that could stand for a memory's; None if it couldn't."""
    if old.kind == "date" and told.kind == "ordinal" and (told.match["digits"] or _ENDS_THERE.match(told.after)):
        return _Value("date", (told.key[0], old.key[1]), told.match)
    if old.kind == "time" and told.kind == "number" and told.key[0] in _HOURS and not told.unit:
        told = _Value("time", (told.key[0] % len(_HOURS), 0, 0), told.match)
    if told.kind == "time" == old.kind:
        return replace(told, key=old.key) if clock.is_same_time(told.key, old.key) else told
    if told.kind != old.kind:
        return None
    if old.kind == "day" and _NTH_BEFORE.search(told.before) and not _NTH_BEFORE.search(old.before):
        return None
    return told if old.kind != "number" or _may_stand_for(told, old) else None


def _may_stand_for(new: _Value, old: _Value) -> bool:
    """Whether two numbers may count the same: like units, both or neither are years, and of similar size."""
    was, now = old.key[0], new.key[0]
    is_year = [_FIRST_YEAR <= each.key[0] <= _LAST_YEAR and not each.unit for each in (old, new)]
    if is_year[0] != is_year[1] or max(was, now) > _MOST_TIMES * max(1, min(was, now)):
        return False
    if {new.unit, old.unit} & set(_GLUED.split("|")):
        return new.unit in {"", old.unit} or {new.unit, old.unit} == {"k", "km"}
    return not new.unit or (bool(old.unit) and (new.unit.endswith(old.unit) or old.unit.endswith(new.unit)))


def _is_denied(value: _Value, said: str) -> bool:
    before, after = said[: value.match.start()], said[value.match.end() :]
    return _BEFORE_OLD.search(before) is not None or _AFTER_OLD.match(after) is not None


def _holds_now(value: _Value, said: str) -> bool:
    """Whether a message says of a value that it holds now: "now Tuesdays", "9090 now"."""
    return _NOW_BEFORE.search(value.before) is not None or _NOW_AFTER.match(said[value.match.end() :]) is not None


def _written_as(old: _Value, new: _Value) -> str:
    """Return the new value in the way that the memory writes its own."""
    text, match, number = old.match[0], old.match, int(new.key[0])
    if old.kind == "day":
        written = _DAYS[number] + ("s" if text.endswith("s") else "")
    elif old.kind == "date":
        day, month = str(number) + (_ending(number) if match["th"] or match["nd"] else ""), int(new.key[1])
        name = MONTHS[month - 1].capitalize()
        day = _ORDINALS[number - 1] if match["spelt"] else day
        written = f"{name} {day}" if match["first"] else f"{day} {'of ' if ' of ' in text else ''}{name}"
    elif old.kind == "month":
        written = f"{MONTHS[number - 1].capitalize()} {new.key[1]}"
    elif old.kind == "time":
        written = clock.said_as(match, new.match)
    elif old.kind == "times":
        written = _TIMES[number - 1] if number <= len(_TIMES) else f"{_WORDS.get(number, number)} times"
    elif old.kind == "ordinal":
        in_words = match["nth"] and number <= len(_ORDINALS)
        written = _ORDINALS[number - 1] if in_words else f"{number}{_ending(number)}"
    elif match["number"].isalpha() and number == new.key[0] and number <= _MOST_IN_WORDS:
        written = _WORDS[number]
    else:
        written = str(number) if new.match["number"].isalpha() else new.match["number"]
        written += match["glued"] or ""
    return written


def _ending(number: int) -> str:
    return "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


# --- Words set against each other -------------------------------------------------------------------------------------


def _of_words(memory: str, said: str) -> NewWording | None:
    """Return the memory with words of the message in the place of words that it sets them against."""
    for pattern in _SWAPS:
        for match in pattern.finditer(said):
            was, now = (_ARTICLE.sub("", _SAID_TO_BE.sub("", match[name].strip()), count=1) for name in ("was", "now"))
            content = put(memory, was, now)
            if content is not None and not _is_done(said, match.start("now"), was):
                return NewWording(content, contrasts=True, at=match.start("now"))
    for match in _AND_NOT.finditer(said):
        content = _put_after_same_word(memory, said[: match.start()], match["was"])
        if content is not None:
            return NewWording(content, contrasts=True, at=match.start())
    return None


def _is_done(said: str, at: int, was: str) -> bool:
    """Whether a message tells at a place what somebody does, and not another noun: "he's training", of a cook."""
    parsed = parse(said, names=False)
    word = next((each for each in parsed.words if each.end > at), None) if parsed is not None else None
    return word is not None and word.pos == "VERB" and word.tag == "VBG" and not was.endswith("ing")


def _put_after_same_word(memory: str, body: str, was: str) -> str | None:
    """Return the memory with what follows, in ``body``, the word that stands before ``was`` in the memory."""
    place = re.search(rf"(?P<before>[\w'’-]+) {_MAYBE_ARTICLE}{re.escape(was)}\b", memory, re.IGNORECASE)
    if place is None:
        return None
    verb = re.escape(place["before"].removesuffix("s"))
    now = re.search(rf"\b{verb}s? {_MAYBE_ARTICLE}(?P<now>[\w'’-]+(?: [\w'’-]+){{0,2}})$", body, re.IGNORECASE)
    return put(memory, was, now["now"]) if now is not None else None


def put(memory: str, was: str, now: str) -> str | None:
    """Return the memory with ``now`` for the noun phrase that has ``was``; None if that makes no like sentence."""
    place = re.search(rf"(?<![\w'’-]){re.escape(was)}(?!['’]s|[\w-])", memory, re.IGNORECASE)
    if place is None or was.lower() == now.lower() or _NO_VALUE.intersection((was.lower(), *now.lower().split())):
        return None
    if (parsed := parse(memory, names=False)) is None:
        return None
    old = [word for word in parsed.words if word.start >= place.start() and word.end <= place.end()]
    first, last = _phrase(parsed, old, like=are_alike(was, now)) if old else (None, None)
    if first is None or last is None:
        return None
    is_name = memory[place.start()].isupper()
    is_spelt = now[:1].isupper() or are_alike(was, now)
    if is_name and last.pos == "PROPN" and now.islower():
        now = now.title()
    before, after = memory[: first.start], memory[last.end :]
    if now.lower().split()[-1:] == after.lower().rstrip(".").split()[:1]:
        now = now.rpartition(" ")[0]
        if not now:
            return None  # "The marathon, not the half", of the half marathon.
    article = re.search(r"\b(an?|the) $", before)
    if article is not None and now.split()[0].lower().rstrip(".") in TITLES:
        before = before[: article.start()]
    elif article is not None and article[1] != "the":
        before = f"{before[: article.start()]}{'an' if now[0].lower() in 'aeiou' else 'a'} "
    content = f"{before}{now}{after}"
    is_sound = (is_name and is_spelt) or _has_same_form(parsed, last, content, len(before) + len(now))
    return content if is_sound else None


def _phrase(parsed: Parsed, old: Sequence[Word], *, like: bool) -> tuple[Word | None, Word | None]:
    """Return the first and last word of the noun phrase around some words outside the subject, without its article."""
    head = next((word for word in reversed(old) if word.pos in _NAMED), None)
    if head is None or (root := parsed.root) is None:
        return None, None
    subject = parsed.child(root, "nsubj", "nsubjpass")
    if subject is not None and head in parsed.subtree(subject):
        return None, None
    if like or head.dep == "amod":  # "Blue, not red", of a red Skoda.
        return old[0], old[-1]
    first = old[0]
    while first.index and (one := parsed.words[first.index - 1]).pos in {"PROPN", "ADJ", "NOUN", "NUM"}:
        first = one
    last = old[-1]
    while parsed.words[last.index + 1 :] and (one := parsed.words[last.index + 1]).pos == "PROPN":
        last = one
    return first, last


def are_alike(one: str, other: str) -> bool:
    """Whether two names are spellings of one another: "Koko" and "Kiko"."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    shared = sum(short.count(letter) > 0 for letter in set(long))
    return one.count(" ") == other.count(" ") and short[0] == long[0] and shared * 2 > len(set(long))


def _has_same_form(old: Parsed, was: Word, content: str, end: int) -> bool:
    """Whether a new sentence is built as the old one; the word that ends at ``end`` replaces ``was``."""
    new = parse(content, names=False)
    if new is None or len(new.sentences) != len(old.sentences):
        return False
    now = next((word for word in new.words if word.end == end), None)
    roots = [one.root for one in (old, new)]
    if now is None or roots[0] is None or roots[1] is None or roots[0].lemma != roots[1].lemma:
        return False
    return now.pos in _NAMED and was.pos in _NAMED
