"""The language model that is none: rules over the user's own sentences."""

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
    """The ids of those that share a word with the question, in their order; of all when none does, at most ``most``."""
    wanted = _words(question)
    sharing = [passage.id for passage in passages if wanted & _words(passage.text)]
    return tuple((sharing or [passage.id for passage in passages])[:most])


def _words(text: str) -> set[str]:
    parsed = parse(text)
    return set(content_words(parsed.words)) if parsed is not None else set()


class OfflineModel:
    """Answers by fixed rules, the same on every run, with no network and no key.

    The rules read English. Text in another language gives no facts and no memories rather than wrong ones; summaries
    are extracts and work in any script. What is not said in so many words is not found: the rules would rather miss a
    fact than state one that was not meant.
    """

    name = "offline rules 1"
    offline = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and list what its user messages say; never raises."""
        reading = read(request)
        return Extraction(
            summary=summarise(request, reading),
            model=self.name,
            facts=fact_candidates(reading, request),
            memories=memory_candidates(reading, request),
            episodes=episodes(reading),
        )

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> Compared:
        """Compare statements pairwise by their grammar; in doubt they are different. Never raises."""
        return Compared(tuple(compare(existing, new) for existing, new in pairs))

    def choose_tools(self, request: ToolRequest) -> ChosenCalls:
        """Choose by fixed rules what to add, change or forget; never raises."""
        return ChosenCalls(choose(request), self.name)

    async def reply(self, request: ReplyRequest) -> AsyncIterator[str | ReplyAnswer]:
        """Tell what was found for a question, and what is remembered of what was said, or ask; never raises."""
        parts, asks = reply(request)
        for part in parts:
            yield part
        yield ReplyAnswer((), self.name, asks=asks)

    def condense(self, memories: Sequence[KnownMemory]) -> Condensing:
        """Put memories together that say the same or that one sentence can say; never raises."""
        return Condensing(condense(memories))

    def select(self, question: str, passages: Sequence[Passage], most: int) -> tuple[str, ...]:
        """Choose those that share a word with the question, or the first ones when none does; never raises."""
        return select(question, passages, most)

    def insights(self, request: InsightRequest) -> Insights:
        """Tell a feeling that was named at least twice; never raises."""
        return Insights(guess(request))
