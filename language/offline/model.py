"""The offline language model: rules over the user's sentences, without a network."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from language.base import (
    ChosenCalls,
    Extraction,
    ExtractionRequest,
    KnownMemory,
    Passage,
    ReplyAnswer,
    ReplyRequest,
    Selected,
    ToolRequest,
)
from language.consolidating import Compared, Condensing
from language.insights import MOST_INSIGHTS, Insight, InsightRequest, Insights
from language.reading.candidates import fact_candidates, memory_candidates
from language.reading.choosing import choose
from language.reading.compare import compare
from language.reading.condensing import condense
from language.reading.parse import parse
from language.reading.refusals import content_words
from language.reading.replying import reply
from language.reading.statements import read
from language.reading.summary import episodes, summarise


def select(question: str, passages: Sequence[Passage], most: int) -> tuple[str, ...]:
    """Return at most ``most`` ids of passages that share a word with the question, in order; of all if none does."""
    wanted = _words(question)
    sharing = [passage.id for passage in passages if wanted & _words(passage.text)]
    return tuple((sharing or [passage.id for passage in passages])[:most])


def _words(text: str) -> set[str]:
    parsed = parse(text)
    return set(content_words(parsed.words)) if parsed is not None else set()


class OfflineModel:
    """A deterministic language model of fixed rules, without network or key.

    Facts and memories are extracted from English only; summaries are extracts of text in any script. Only explicit
    statements are found: the rules favour precision over recall.
    """

    name = "offline rules 1"
    offline = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and extract candidates from its user messages; never raises."""
        reading = read(request)
        return Extraction(
            summary=summarise(request, reading),
            model=self.name,
            facts=fact_candidates(reading, request),
            memories=memory_candidates(reading, request),
            episodes=episodes(reading),
        )

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> Compared:
        """Compare pairs of statements by grammar; "different" if in doubt. Never raises."""
        return Compared(tuple(compare(existing, new) for existing, new in pairs))

    def choose_tools(self, request: ToolRequest) -> ChosenCalls:
        """Choose additions, updates and deletions by fixed rules; never raises."""
        return ChosenCalls(choose(request), self.name)

    async def reply(self, request: ReplyRequest) -> AsyncIterator[str | ReplyAnswer]:
        """Answer with recalled passages and with what was learned from the message, or ask; never raises."""
        parts, asks = reply(request)
        for part in parts:
            yield part
        yield ReplyAnswer((), self.name, asks=asks)

    def condense(self, memories: Sequence[KnownMemory]) -> Condensing:
        """Merge memories that are equal or that fit into one sentence; never raises."""
        return Condensing(condense(memories))

    def select(self, question: str, passages: Sequence[Passage], most: int) -> Selected:
        """Choose passages that share a word with the question, or the first ones if none does; never raises."""
        return Selected(select(question, passages, most))

    def insights(self, request: InsightRequest) -> Insights:
        """Return an insight about a feeling that was named at least twice; never raises."""
        return Insights(_find_feelings(request))


# --- Insights: feelings ----------------------------------------------------------------------------------------

_FEELINGS = {
    "worried": "worried|anxious|nervous|afraid|scared|frightened|uneasy",
    "sad": "sad|unhappy|heartbroken|miserable|grieving",
    "lonely": "lonely",
    "tired": "tired|exhausted|worn out|drained",
    "happy": "happy|glad|delighted|overjoyed|cheerful",
    "grateful": "grateful|thankful",
    "proud": "proud",
    "angry": "angry|furious|annoyed|frustrated",
}
_DEGREE = (
    r"(?:(?:so|very|really|quite|rather|still|also|a bit|a little|often|increasingly|too|just|extremely|deeply) ){0,2}"
)
_BE_OF_ONESELF = r"\b(?:I['’]?m|I am|I feel|I felt|I was|I['’]ve been|I have been|I keep feeling|I get)"
_BE_OF_USER = r"\bthe user (?:is|feels|felt|was|has been|gets)"
_RULES = {
    feeling: (
        re.compile(rf"{_BE_OF_ONESELF} {_DEGREE}(?:{words})\b", re.IGNORECASE),
        re.compile(rf"{_BE_OF_USER} {_DEGREE}(?:{words})\b", re.IGNORECASE),
    )
    for feeling, words in _FEELINGS.items()
}
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_NO_STATEMENT = re.compile(
    r"\?|\b(?:not|never|no longer|hardly|if|when|would|could|might|maybe|said|says|told|think)\b|n['’]t\b|[\"“”]",
    re.IGNORECASE,
)
"""Marks of questions, negations, conditions and quotations."""
_FEWEST = 2


def _find_feelings(request: InsightRequest) -> tuple[Insight, ...]:
    """Return the feelings that at least two passages name, most frequent first. English only."""
    found = []
    for feeling, (own, noted) in _RULES.items():
        memories = tuple(each.id for each in request.memories if _names(noted, each.content))
        messages = tuple(each.index for each in request.messages if _names(own, each.content))
        if len(memories) + len(messages) >= _FEWEST:
            found.append(Insight(f"The user seems {feeling} lately.", ("mood",), 2, memories, messages))
    found.sort(key=lambda each: -len(each.memories) - len(each.messages))
    return tuple(found[:MOST_INSIGHTS])


def _names(rule: re.Pattern[str], text: str) -> bool:
    return any(rule.search(each[0]) and not _NO_STATEMENT.search(each[0]) for each in _SENTENCE.finditer(text))
