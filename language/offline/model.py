"""The offline language model: rules over the user's sentences, without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from language.base import (
    ChosenCalls,
    Extraction,
    ExtractionRequest,
    KnownMemory,
    Passage,
    ReplyAnswer,
    ReplyRequest,
    ToolRequest,
)
from language.consolidating import Compared, Condensing
from language.insights import InsightRequest, Insights
from language.offline.guessing import guess
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

    def select(self, question: str, passages: Sequence[Passage], most: int) -> tuple[str, ...]:
        """Choose passages that share a word with the question, or the first ones if none does; never raises."""
        return select(question, passages, most)

    def insights(self, request: InsightRequest) -> Insights:
        """Return an insight about a feeling that was named at least twice; never raises."""
        return Insights(guess(request))
