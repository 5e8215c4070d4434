"""Update compound memories: keep the parts that still hold. Detect rescheduling in messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from language.base import ExtractionRequest, Utterance
from language.brief_caches import cached_briefly

from .compare import Saying, compare
from .corrections import puts_right
from .parse import Parsed, Word, parse
from .statements import read
from .stems import LIGHT, words_of
from .words import listed

OWN_WORDS = re.compile(r"(?:I|My)\b")
"""The start of a memory that is in the first person."""
_USER = "The user "
_FUNCTION_WORDS = listed("i my me i'm am not cannot it is was are were has does did they we she he our am")
_DAY = r"(?P<day>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_DAYS = re.compile(rf"\b{_DAY}s?\b", re.IGNORECASE)
_WHEN = re.compile(
    rf",? (?:on |every |each )?(?:the )?\b{_DAY}s?\b(?: (?:mornings?|afternoons?|evenings?|nights?)\b)?"
    r"(?: (?:before|after) \d{1,2} [^\W\d_]+ \d{4})?",
    re.IGNORECASE,
)
_OF_ANYTHING = listed("come go take meet place leave start work time")
"""Beginnings of words that say nothing of what is on a day."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!]*")
_CLAUSES = re.compile(r"[,;.!–—]|\b(?:and|but|so)\b")
_NEGATED = re.compile(
    r"n['’]t\b|\b(?:not|no longer|never|used to|instead of|rather than|was|were|from(?! now on))\b", re.IGNORECASE
)
_ANY_MORE = re.compile(r"\bany ?(?:more|longer)\b", re.IGNORECASE)
_TO_ANOTHER = re.compile(
    r"\b(?:mov|chang|switch|shift|reschedul|postpon|push|brought|put off|delay)\w*\b.*\b(?:to|until)\b", re.IGNORECASE
)
_CHANGES = re.compile(
    r"\b(?:mov(?:ed?|ing)|changed?|switch\w*|shift\w*|reschedul\w*|postpon\w*|push\w*|brought|put off|delay\w*|now"
    r"|instead|since|no longer|any ?(?:more|longer)|used to)\b",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(r"n['’]t (?:been |be )?(?:mov|chang|switch|shift|reschedul|postpon|push|delay)", re.IGNORECASE)


# --- Parts ------------------------------------------------------------------------------------------------------


@cached_briefly(maxsize=2_000)
def parts_of(content: str) -> tuple[str, ...]:
    """The statements a memory consists of, in the third person; only itself if it can't be split without loss."""
    if OWN_WORDS.match(content):
        said = Utterance(0, "user", "", content, datetime.now(UTC))
        told = tuple(
            dict.fromkeys(each.content for each in read(ExtractionRequest([said], "", None, (), ())).statements)
        )
        return told if _content_prefixes(content) <= _content_prefixes(" ".join(told)) else (content,)
    parsed = parse(content) if " and " in content or ". " in content else None
    found = [part for words in parsed.each_sentence() for part in _clauses(parsed, words)] if parsed else []
    return tuple(found) if len(found) > 1 else (content,)


def _clauses(parsed: Parsed, words: Sequence[Word]) -> Iterator[str]:
    """The main clauses of a sentence, each with its subject."""
    root = next((word for word in words if word.head == word.index), None)
    subject = parsed.child(root, "nsubj", "nsubjpass") if root is not None else None
    if root is None or subject is None:
        yield parsed.text[words[0].start : words[-1].end]
        return
    who = _text(parsed, parsed.subtree(subject))
    heads = [root]
    while (beside := parsed.child(heads[-1], "conj")) is not None and _is_finite(parsed, beside):
        heads.append(beside)
    if len(heads) == 1:
        yield from _halves(_text(parsed, words))
        return
    starts = [parsed.subtree(head)[0] for head in heads]
    for head, start, after in zip(heads, starts, [*starts[1:], None], strict=True):
        own = [word for word in words if word.index >= start.index and (after is None or word.index < after.index)]
        while own and (own[-1].dep in {"cc", "punct"}):
            own.pop()
        text = _text(parsed, own)
        yield f"{text[:1].upper()}{text[1:]}." if parsed.child(head, "nsubj", "nsubjpass") else f"{who} {text}."


def _halves(text: str) -> Iterator[str]:
    """A sentence split at an "and" where both halves are sentences, the second maybe with the subject of the first.

    Otherwise unchanged. "Has diabetes type 2 and takes metformin": the verb often is taken to join another word.
    """
    parsed = parse(text)
    for place in re.finditer(r",? and ", text):
        halves = [f"{text[: place.start()].rstrip('.')}.", f"{text[place.end() :].rstrip('.')}."]
        if parsed is not None and _joins_subject(parsed, place.end()):
            halves[1] = f"{_USER}{halves[1]}"
        if all(map(_stands_alone, halves)):
            yield from (f"{half[:1].upper()}{half[1:]}" for half in halves)
            return
    yield text


def _joins_subject(parsed: Parsed, start: int) -> bool:
    """Whether what begins there is a verb that joins no other clause than the main one, which is of the user."""
    verb = next((word for word in parsed.words if word.start == start), None)
    if verb is None or verb.dep != "conj" or verb.tag not in {"VB", "VBD", "VBP", "VBZ"}:
        return False
    above = parsed.head(verb)
    while above.head != above.index and above.pos != "VERB":
        above = parsed.head(above)
    helped = any(each.tag in {"MD", "TO"} for each in parsed.children(above))
    return above.head == above.index and not helped and parsed.text.startswith(_USER)


def _stands_alone(text: str) -> bool:
    parsed = parse(text, names=False)
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None:
        return False
    return _is_finite(parsed, root) and parsed.child(root, "nsubj", "nsubjpass") is not None


def _is_finite(parsed: Parsed, verb: Word) -> bool:
    return verb.tag in {"VBD", "VBZ", "VBP"} or any(each.dep in {"aux", "auxpass"} for each in parsed.children(verb))


def _text(parsed: Parsed, words: Sequence[Word]) -> str:
    return parsed.text[words[0].start : words[-1].end] if words else ""


def in_third_person(memory: str) -> str:
    """A memory for comparison: in the third person if it is in the person's own words."""
    return _joined(parts_of(memory)) if OWN_WORDS.match(memory) else memory


def with_rest(memory: str, content: str, by: Saying) -> str:
    """The replacement of a memory outdated ``by`` a statement: ``content`` plus the parts that still hold."""
    parts = parts_of(memory)
    held = [part for part in parts if compare(part, by) in {"different", "same"}]
    if not held or len(held) == len(parts):
        return content
    kept = [part if part in held else content for part in parts]
    return _joined(list(dict.fromkeys(kept)))


def _joined(statements: Sequence[str]) -> str:
    """Join statements into one sentence: "The user lives in Porto and rows on Mondays."."""
    text = statements[0].rstrip(".")
    for each in statements[1:]:
        same = all(one.startswith("The user ") for one in (statements[0], each)) and "the user" not in text[8:]
        rest = each.removeprefix("The user ") if same else re.sub("^(The|His|Her|Their) ", _lower, each)
        text += f" and {rest.rstrip('.')}"
    return f"{text}."


def _content_prefixes(text: str) -> set[str]:
    """Prefixes of the content words: "play" and "plays" have the same."""
    words = {word for word in words_of(text) if word not in LIGHT and word not in _FUNCTION_WORDS and "'" not in word}
    return {word.removesuffix("s")[:5] for word in words}


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


# --- Days -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rescheduling:
    """A rescheduling: the weekday that no longer holds, the new one, or both. ``quote`` is its last sentence."""

    message: str
    quote: str
    old_day: str
    new_day: str

    def apply_to(self, memory: str) -> str | None:
        """The memory with the new day, or without the old one; None if it is about something else."""
        days = list(_DAYS.finditer(memory))
        if (
            len(days) != 1
            or (self.old_day and days[0]["day"].lower() != self.old_day)
            or days[0]["day"].lower() == self.new_day
        ):
            return None
        if not self.shared_words(memory):
            return None
        if self.new_day:
            return memory[: days[0].start("day")] + self.new_day.capitalize() + memory[days[0].end("day") :]
        return _WHEN.sub("", memory, count=1)

    def best_match(self, statements: Sequence[str]) -> int | None:
        """The index of the statement that shares most words; None on a tie or without a match."""
        shared = {
            place: len(self.shared_words(each))
            for place, each in enumerate(statements)
            if self.apply_to(each) is not None
        }
        most = [place for place, words in shared.items() if words == max(shared.values())]
        return most[0] if len(most) == 1 else None

    def shared_words(self, memory: str) -> set[str]:
        """The content words that the message and a memory share, without days."""
        said, known = (_content_prefixes(_DAYS.sub("", text)) for text in (self.message, memory))
        return said & known - _OF_ANYTHING

    def only_names_day(self, content: str) -> bool:
        """Whether a statement only gives the old or the new day."""
        return not {f"{day}day" for day in (self.old_day, self.new_day) if day}.isdisjoint(words_of(content))


def find_rescheduling(message: str) -> Rescheduling | None:
    """The rescheduling in a message; None if there is none or it is ambiguous."""
    days: dict[bool, set[str]] = {True: set(), False: set()}
    quote = ""
    if "?" in message or not _CHANGES.search(message) or _UNCHANGED.search(message):
        return None
    for sentence in _SENTENCE.findall(message):
        for clause in _CLAUSES.split(sentence):
            for day in _DAYS.finditer(clause):
                before, quote = clause[: day.start()], sentence.strip()
                another = _TO_ANOTHER.search(before)
                over = _NEGATED.search(before, another.end() if another else 0) or _ANY_MORE.search(clause)
                days[over is None].add(day["day"].lower())
    now, was = days[True], days[False]
    if len(was) > 1 or len(now) > 1 or not was | now or was == now:
        return None
    return Rescheduling(message, quote, next(iter(was), ""), next(iter(now), ""))


def may_correct(later: str, earlier: str) -> bool:
    """Whether a message may correct an earlier one: it corrects something, and they share a word."""
    moved = find_rescheduling(later)
    corrects = puts_right(later) or (moved is not None and _DAYS.search(earlier) is not None)
    return corrects and not _content_prefixes(later).isdisjoint(_content_prefixes(earlier))
