"""Extractive summaries: the most central statements in the past tense, and the tone in one word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from language.base import EpisodeCandidate, ExtractionRequest, Utterance
from language.fillers import NOTHING_SAID

from .filters import is_prompt_injection
from .kinds import DEFAULT_IMPORTANCE, importance_of
from .parse import parse
from .past import in_the_past
from .questions import is_question, tells_something, wanted_in
from .refusals import asks_to_keep, content_words
from .sentences import own_words, split_sentences
from .statement_builder import ReadStatement
from .statements import BatchReading

LEAST, MOST = 3, 6
"""The number of statements in a summary, if there are enough."""
_MESSAGES_A_STATEMENT = 3
_LEAST_TOPICS = 3
"""How many topic words a question has at least that is worth recalling."""
_ALIKE = 0.5
_MOST_WEIGHED = 200
_LONGEST_QUOTE = 240
_FEELINGS = {
    "sad": "sad miss missed cry cried crying lonely grief grieving heartbroken tears unhappy mourning loss",
    "happy": "happy glad delighted joy laughed laughing fun enjoyed cheerful pleased excited",
    "proud": "proud pride",
    "worried": "worried worry afraid scared anxious nervous fear stressed panic",
    "grateful": "grateful thankful blessed",
    "angry": "angry furious annoyed unfair mad",
    "tired": "tired exhausted overwhelmed",
    "fond": "love loved dear tender",
}
_TONES = {word: tone for tone, words in _FEELINGS.items() for word in words.split()}
_OF_THE_USER = re.compile(r"\b[Tt]he user\b")
_PLAIN_NAME = regex.compile(
    r"(?!(?i:system|developer|tool|assistant|user)$)"
    r"(?:[\p{L}\p{M}'’-]+|(?:(?:[\p{Lu}\p{Lo}][\p{L}\p{M}'’-]*\.?|\p{Ll}{1,3})(?: |$)){1,5})"
)
_NEGATIONS = frozenset({"not", "n't", "never", "no"})
_FIRST_PERSON = frozenset({"i", "we", "me", "us", "i'm", "i've", "my"})
_DECISION = re.compile(r"The user(?: has)?(?: also| just)* (?:decided|agreed|promised|chose|chosen|booked|signed)\b")


@dataclass(frozen=True, slots=True)
class _Point:
    """A candidate sentence of a summary, with its content words and importance."""

    text: str
    order: int
    words: frozenset[str]
    importance: int


def summarise(request: ExtractionRequest, reading: BatchReading) -> str:
    """Summarise in three to six sentences in the past tense, fewer if there is less, with the tone the person names.

    Retracted and refused statements are left out. If nothing could be read, as in other languages, sentences are
    quoted.
    """
    points = list(_points(request, reading))
    if not points:
        return _quoted(request, reading)
    most = min(MOST, max(LEAST, len(request.messages) // _MESSAGES_A_STATEMENT))
    tone = _tone(request, reading)
    told = [point.text for point in sorted(_most_central(points, most), key=lambda point: point.order)]
    return " ".join([*told, *([f"The tone was {tone}."] if tone else [])])


def episodes(reading: BatchReading) -> tuple[EpisodeCandidate, ...]:
    """Up to two decisions, agreements or appointments of the person, in the past tense."""
    decided = (one for one in _in_order(reading) if _DECISION.match(one.content))
    told = ((*_in_past_tense(one), one.index) for one in decided)
    return tuple(EpisodeCandidate(text, (index,)) for text, words, index in told if len(words) > 1)[:2]


def _in_order(reading: BatchReading) -> list[ReadStatement]:
    return sorted((*reading.statements, *reading.momentary), key=lambda one: one.index)


def _in_past_tense(statement: ReadStatement) -> tuple[str, frozenset[str]]:
    """A statement in the past tense, and its content words."""
    parsed = parse(statement.content)
    if parsed is None:
        return statement.content, frozenset()
    return in_the_past(parsed), frozenset(content_words(parsed.words))


def _points(request: ExtractionRequest, reading: BatchReading) -> Iterator[_Point]:
    """The statements, deduplicated, with the person's name."""
    name = _plain(request.user_name) or "The user"
    once = {one.content: one for one in reversed(_in_order(reading))}
    for order, statement in enumerate([*reversed(once.values())][:_MOST_WEIGHED]):
        text, words = _in_past_tense(statement)
        if words:
            importance = 0 if statement.is_momentary else importance_of(statement.kind, statement.content)
            yield _Point(_OF_THE_USER.sub(lambda _: name, text), order, words, importance)


def _most_central(points: Sequence[_Point], most: int) -> list[_Point]:
    """The statements that are most central and important, without near duplicates."""
    counts = Counter(word for point in points for word in point.words)
    weight = {word: math.log(1 + len(points) / count) for word, count in counts.items()}

    def alike(one: _Point, other: _Point) -> float:
        shared = sum(weight[word] ** 2 for word in one.words & other.words)
        size = math.sqrt(sum(weight[word] ** 2 for word in one.words) * sum(weight[word] ** 2 for word in other.words))
        return shared / size if size else 0.0

    def score(point: _Point) -> float:
        central = sum(alike(point, other) for other in points if other is not point) / max(1, len(points) - 1)
        return 2 * central + min(1.0, len(point.words) / 6) + 0.3 * (point.importance - DEFAULT_IMPORTANCE)

    chosen: list[_Point] = []
    for point in sorted(points, key=lambda each: (-score(each), each.order)):
        if len(chosen) < most and not any(alike(point, other) > _ALIKE for other in chosen):
            chosen.append(point)
    return chosen


def _kept(messages: Sequence[Utterance], reading: BatchReading, role: str) -> Iterator[str]:
    """The sentences of one side's messages, without refused ones."""
    for message in messages:
        if message.role == role and not is_prompt_injection(message.content):
            for each in split_sentences(own_words(message.content)):
                if not any(each.text in passage or passage in each.text for passage in reading.withheld(message.index)):
                    yield each.text


def _tone(request: ExtractionRequest, reading: BatchReading) -> str:
    """The emotion the person most often names in the first person; empty if none."""
    counts: Counter[str] = Counter()
    for sentence in _kept(request.messages, reading, "user"):
        words = re.findall(r"[\w']+", sentence.lower().replace("’", "'").replace("n't", " n't"))
        for place, word in enumerate(words):
            near = words[max(0, place - 3) : place]
            if word in _TONES and not _FIRST_PERSON.isdisjoint(near) and _NEGATIONS.isdisjoint(near):
                counts[_TONES[word]] += 1
    return max(counts, key=lambda tone: counts[tone], default="")


def _quoted(request: ExtractionRequest, reading: BatchReading) -> str:
    """Quotations, the person's before others', without the assistant's questions whether to remember something.

    ``NOTHING_SAID`` if the person only greets, thanks, says a word or two or asks about one thing.
    """
    name = _plain(request.user_name) or "The user"
    for role, unnamed in (("user", name), ("assistant", "The assistant")):
        texts = [each for each in _kept(request.messages, reading, role) if role == "user" or not asks_to_keep(each)]
        if texts and role == "user" and not (texts := [each for each in texts if not _is_passing(each)]):
            return NOTHING_SAID
        if texts:
            speakers = (_plain(message.speaker) for message in request.messages if message.role == role)
            longest = sorted(sorted(range(len(texts)), key=lambda place: -len(texts[place]))[:LEAST])
            who = next(speakers, "") or unnamed
            return " ".join(f"{who} said: “{_cut(texts[place])}”" for place in longest)
    return NOTHING_SAID


def _plain(name: str) -> str:
    """Return a name; "" for a role of a message, and for what is more than a name: its sentence would say it, too."""
    name = " ".join(name.split())
    return name if _PLAIN_NAME.fullmatch(name) else ""


def _is_passing(text: str) -> bool:
    """Whether a sentence says nothing to recall. One in other letters than ours can't be told."""
    if not text.isascii() or tells_something(text):
        return False
    return not is_question(text) or len(wanted_in(text)) < _LEAST_TOPICS


def _cut(text: str) -> str:
    text = " ".join(text.split()).replace("“", "'").replace("”", "'").replace('"', "'")
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1].rstrip(" ,;:") + "…"
