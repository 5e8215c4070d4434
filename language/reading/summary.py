"""A summary of what was said: the statements that say most, in the past tense, and the tone in one word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from language.base import EpisodeCandidate, ExtractionRequest, Utterance

from .filters import steers
from .kinds import DEFAULT_IMPORTANCE, importance_of
from .parse import parse
from .past import in_the_past
from .refusals import content_words
from .sentences import own_words, split_sentences
from .statements import Reading
from .telling import Statement

LEAST, MOST = 3, 6
"""Statements of a summary, where there are so many."""
_MESSAGES_A_STATEMENT = 3
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
_NOT = frozenset({"not", "n't", "never", "no"})
_FIRST = frozenset({"i", "we", "me", "us", "i'm", "i've", "my"})
_DECIDED = re.compile(r"The user(?: has)?(?: also| just)* (?:decided|agreed|promised|chose|chosen|booked|signed)\b")


@dataclass(frozen=True, slots=True)
class _Point:
    """Something that a summary can tell, with the words that say it and how much it matters."""

    text: str
    order: int
    words: frozenset[str]
    importance: int


def summarise(request: ExtractionRequest, reading: Reading) -> str:
    """Three to six sentences in the past tense on what the person said, fewer of less, and the tone they name.

    Nothing is told of what the person took back or asked not to be kept. Where nothing could be read, as in other
    languages, some sentences are quoted.
    """
    points = list(_points(request, reading))
    if not points:
        return _quoted(request, reading)
    most = min(MOST, max(LEAST, len(request.messages) // _MESSAGES_A_STATEMENT))
    tone = _tone(request, reading)
    told = [point.text for point in sorted(_most_telling(points, most), key=lambda point: point.order)]
    return " ".join([*told, *([f"The tone was {tone}."] if tone else [])])


def episodes(reading: Reading) -> tuple[EpisodeCandidate, ...]:
    """Up to two things that the person decided, agreed or arranged, in the past tense."""
    decided = (one for one in _in_order(reading) if _DECIDED.match(one.content))
    told = ((*_told(one), one.index) for one in decided)
    return tuple(EpisodeCandidate(text, (index,)) for text, words, index in told if len(words) > 1)[:2]


def _in_order(reading: Reading) -> list[Statement]:
    return sorted((*reading.statements, *reading.passing), key=lambda one: one.index)


def _told(statement: Statement) -> tuple[str, frozenset[str]]:
    """A statement in the past tense, and its words that say something."""
    parsed = parse(statement.content)
    if parsed is None:
        return statement.content, frozenset()
    return in_the_past(parsed), frozenset(content_words(parsed.words))


def _points(request: ExtractionRequest, reading: Reading) -> Iterator[_Point]:
    """What was read, each thing once, with the person's name."""
    name = request.user_name.strip() or "The user"
    once = {one.content: one for one in reversed(_in_order(reading))}
    for order, statement in enumerate([*reversed(once.values())][:_MOST_WEIGHED]):
        text, words = _told(statement)
        if words:
            importance = 0 if statement.passing else importance_of(statement.kind, statement.content)
            yield _Point(_OF_THE_USER.sub(lambda _: name, text), order, words, importance)


def _most_telling(points: Sequence[_Point], most: int) -> list[_Point]:
    """The statements whose words come up most in the others and that matter most, nothing twice."""
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


def _kept(messages: Sequence[Utterance], reading: Reading, role: str) -> Iterator[str]:
    """The sentences of the messages of one side, without those that were asked not to be kept."""
    for message in messages:
        if message.role == role and not steers(message.content):
            for each in split_sentences(own_words(message.content)):
                if not any(each.text in passage or passage in each.text for passage in reading.withheld(message.index)):
                    yield each.text


def _tone(request: ExtractionRequest, reading: Reading) -> str:
    """The feeling that the person names most often of themselves; empty where they name none."""
    counts: Counter[str] = Counter()
    for sentence in _kept(request.messages, reading, "user"):
        words = re.findall(r"[\w']+", sentence.lower().replace("’", "'").replace("n't", " n't"))
        for place, word in enumerate(words):
            near = words[max(0, place - 3) : place]
            if word in _TONES and not _FIRST.isdisjoint(near) and _NOT.isdisjoint(near):
                counts[_TONES[word]] += 1
    return max(counts, key=lambda tone: counts[tone], default="")


def _quoted(request: ExtractionRequest, reading: Reading) -> str:
    """Some of what was said as it was said, the person's words before others'."""
    name = request.user_name.strip() or "The user"
    for role in ("user", "assistant"):
        texts = list(_kept(request.messages, reading, role))
        if texts:
            speakers = (message.speaker.strip() for message in request.messages if message.role == role)
            longest = sorted(sorted(range(len(texts)), key=lambda place: -len(texts[place]))[:LEAST])
            who = next(speakers, "") or name
            return " ".join(f"{who} said: “{_cut(texts[place])}”" for place in longest)
    count = len(request.messages)
    exchanged = f"{name} and others exchanged {count} message{'' if count == 1 else 's'}."
    return f"{exchanged} Nothing of it was in plain words."


def _cut(text: str) -> str:
    text = " ".join(text.split()).replace("“", "'").replace("”", "'").replace('"', "'")
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1].rstrip(" ,;:") + "…"
