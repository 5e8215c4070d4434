"""Split a message into sentences, with positions, after blanking out what the user did not write themself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from language.reading.asked import find_asked
from language.reading.lexicon import is_kind_of, is_word
from language.reading.notes import is_label
from language.reading.rows import is_row
from language.reading.words import ENGLISH, FEMALE_NAMES, KIN, KIN_PLURALS, MALE_NAMES, listed

MAX_LIST_LINES = 8
MAX_CHARACTERS = 32_000

_WITHHELD = re.compile(r"\[withheld\]")
_FENCED = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_MEMORY_BLOCK = re.compile(
    r"<memories_from_previous_interactions>.*?(?:</memories_from_previous_interactions>|\Z)", re.DOTALL | re.IGNORECASE
)
_REST_IS_QUOTED = re.compile(
    r"^(?:On [^\n]{4,200} wrote:|-{2,} ?(?:Original Message|Forwarded message) ?-{2,}|From: [^\n]{3,200})[ \t]*$",
    re.MULTILINE,
)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\||#|\$ |at [\w.]+\()[^\n]*$", re.MULTILINE)
_MEMORY_LINE = re.compile(r"^[ \t]*(?:[-*] )?\[(?:id:)?[^\]\n]{1,40}\][^\n]*$", re.MULTILINE)
_SPEAKER_LINE = re.compile(r"^[ \t]*(?P<who>[^\W\d_][\w .'-]{0,24}):[ \t]+\S[^\n]*$", re.MULTILINE)
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*•·+]|\d{1,4}[.)]|[a-z][.)]|\[[ x]\])[ \t]+")
# Labels of the user's own notes; any other label is a speaker or a form field.
_OWN_LABELS = listed("remember note fyi ps p.s update edit correction also btw reminder")
# Headings of lists about oneself; kept where the text is in the first person: "Medicine: I take metformin".
_OWN_HEADINGS = listed(
    "age allergies allergy birthday children commute diet drinks education exercise family fears fitness food foods "
    "goals health hobbies hobby holidays home house housing illness interests job kids languages likes location meals "
    "medication medications medicine medicines mobility money movies music pets plans profession religion school sleep "
    "sport sports study transport travel vacation weekends work"
)
_OF_A_CLAUSE = listed("i me you we us it")
"""Words of a clause that ends with a colon; no speaker's name has one beside others."""
_OPENS = re.compile(
    r"(?:got|went|turns out|(?:doctor|nurse|boss|judge)['’]?s orders|(?:good|bad|big|great|sad|happy|other) news"
    r"|fun fact|(?:quick|small|little|short|brief) (?:update|note)|long story short|bottom line|true story)\b"
)
"""What a person writes before what they tell, with a colon: "Got tested: I'm not allergic"."""
_IS_TOLD = re.compile(r".*\b(?:is|are|was|were|am)\b(?!.*\b(?:say|said|says|told|tells|asked|asks|wrote|thinks?)\b)")
"""A clause before a colon, which tells something itself: "The port is finished: all Go"."""
_OF_FORMS = listed(
    "from to cc bcc subject date sent re fw fwd name email phone address title status response answer question output "
    "input result error warning summary prompt system assistant bot ai user q a task context instructions"
)
"""Labels of forms, mails and logs, whose lines are nobody's words."""
_TOPIC = re.compile(r"(?:about|more about|some|something about|things|basics|facts) \w")
_SUBJECT_FIRST = re.compile(r"(?i)\s*(?:i|he|she|we|my|his|her)\b")
_FIRST_PERSON = re.compile(r"\b(?:I|i['’]m|I['’]\w+|[Mm]y)\b")

_ABBREVIATIONS = listed(
    "mr mrs ms dr prof st sr jr vs etc inc ltd co corp no approx dept est fig gen gov hon rev capt sgt col lt e.g i.e "
    "a.m p.m u.s u.k cf ca mt ft fr sen"
)
_SENTENCE_BEFORE = re.compile(rf"\b(?!(?:{'|'.join(map(re.escape, _ABBREVIATIONS - {'no'}))})\.)\w\w+\. \w")
"""What comes before a label within a line: "No. Health: asthma". Not "Dr. Weiss: …" or "J. Weiss: …"."""
_END = re.compile(r"[.!?…]+[\"'”’)\]*_~]*(?=\s|$)|[。！？｡]+[」』”’）]*|\n+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: ``text`` is ``content[start:end]`` of its message."""

    text: str
    start: int
    end: int


def own_words(content: str) -> str:
    """Blank out withheld passages, code, quoted mail, memory blocks, long lists and other speakers' lines.

    The result has the length of ``content``, so positions are the same in both.
    """
    text = content.replace("\r", "\n")
    for pattern in (_WITHHELD, _FENCED, _MEMORY_BLOCK, _MEMORY_LINE, _QUOTED_LINE):
        text = pattern.sub(_blank, text)
    quoted = _REST_IS_QUOTED.search(text)
    if quoted:
        text = text[: quoted.start()] + _blanked(text[quoted.start() :])
    text = _SPEAKER_LINE.sub(_blank_unless_own, text)
    return _without_lists(text)


def _blanked(text: str) -> str:
    return "".join("\n" if character == "\n" else " " for character in text)


def _blank(match: re.Match[str]) -> str:
    # A line break keeps the sentences before and after separate.
    return "\n" + _blanked(match.group())[1:]


def _blank_unless_own(match: re.Match[str]) -> str:
    line, who = match.group(), match.group("who").lower()
    words = who.split()
    if (
        who in _OWN_LABELS
        or _SENTENCE_BEFORE.search(who)
        or find_asked(line.strip()) is not None
        or (len(words) > 1 and not _OF_A_CLAUSE.isdisjoint(re.split("[ ']", who)))
        or (len(words) > 1 and _IS_TOLD.match(who))
    ):
        return line
    said = line.partition(":")[2]
    if _TOPIC.match(who) and (not is_label(who) or _SUBJECT_FIRST.match(said)):
        return line.replace(":", ".", 1)
    is_opening = len(words) > 1 and _OPENS.match(who) is not None
    is_clause = _FIRST_PERSON.search(said) is not None and (not is_label(who) or _SUBJECT_FIRST.match(said) is not None)
    if is_opening or ((who in _OWN_HEADINGS or _is_heading(words)) and is_clause):
        return " " * (len(line) - len(said)) + said
    is_named = _is_thing(words) or is_row(line.strip())
    if is_label(who) or (is_named and not _FIRST_PERSON.search(said)):
        return line
    return _blank(match)


def _is_thing(words: list[str]) -> bool:
    """Whether a label has only words for things or deeds: "best day", "can cook". A speaker's is a name or a person."""
    last = words[-1].removesuffix("s") if not is_word(words[-1]) else words[-1]
    common = all(each in ENGLISH or is_word(each) or is_word(each.removesuffix("s")) for each in words)
    is_somebody = is_kind_of(last, "person") or last in KIN or words[0] in FEMALE_NAMES | MALE_NAMES | KIN.keys()
    return words[-1] in KIN_PLURALS or (common and not is_somebody and last not in _OF_FORMS)


def _is_heading(words: list[str]) -> bool:
    """Whether a label has words that no speaker's name has: "bit of background: I'm a locksmith"."""
    return len(words) > 1 and not ENGLISH.isdisjoint(words) and KIN.keys().isdisjoint(words)


def _without_lists(text: str) -> str:
    lines = text.split("\n")
    kept = list(lines)
    run: list[int] = []
    for number, line in enumerate([*lines, "end of the text"]):
        listed_line = bool(_LIST_LINE.match(line))
        if listed_line or (line and len(line) < 60 and not line.rstrip().endswith((".", "!", "?"))):
            run.append(number)
            continue
        if not line.strip():
            continue
        if len(run) > MAX_LIST_LINES:
            for position in run:
                if position < len(lines):
                    kept[position] = " " * len(lines[position])
        run = []
    if len(run) > MAX_LIST_LINES:
        for position in run:
            if position < len(lines):
                kept[position] = " " * len(lines[position])
    return "\n".join(kept)


def split_sentences(content: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in any script; positions are those of ``content``."""
    start = 0
    for match in _END.finditer(content):
        if match.group()[0] == "." and _is_abbreviation(content, start, match.start()):
            continue
        yield from _sentence(content, start, match.end())
        start = match.end()
    yield from _sentence(content, start, len(content))


def _is_abbreviation(content: str, start: int, stop: int) -> bool:
    word_start = max(content.rfind(" ", start, stop), content.rfind("\n", start, stop), start - 1) + 1
    word = content[word_start:stop].lstrip("(\"'")
    initial = len(word) == 1 and word.isalpha() and word.isupper() and word != "I"
    return initial or (word.lower() in _ABBREVIATIONS and stop + 1 < len(content))


def _sentence(content: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end and (content[start].isspace() or content[start] in "-*•·"):
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    if start < end and any(character.isalnum() for character in content[start:end]):
        yield Sentence(content[start:end], start, end)
