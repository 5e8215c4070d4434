"""``language.base.LanguageModel`` over the Messages API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import structlog
from django.conf import settings

from language.anthropic_model import prompts
from language.anthropic_model.answers import (
    FIELDS,
    LONGEST_CONTENT,
    extraction_schema,
    read_extraction,
    read_verdicts,
    verdicts_schema,
)
from language.anthropic_model.call import Endpoint, Role, ask, ask_for_calls, spent, stream
from language.anthropic_model.condensing import condensed_schema, read_condensed, read_selected, selected_schema
from language.anthropic_model.guessing import MOST_INSIGHT_TOKENS, insights_schema, read_insights
from language.anthropic_model.talking import chat_messages, read_reply, tool_choice_of
from language.anthropic_model.tools import messages_of, read_calls, tools_of
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
from language.insights import MOST_INSIGHTS, InsightRequest, Insights

log = structlog.get_logger(__name__)


class AnthropicModel:
    """A model behind the Messages API: Anthropic's, or another server's.

    The constructor opens no connection. Each batch is one call. A failure raises an error whose class gives the reason
    (``language.anthropic_model.call``).
    """

    offline = False

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        extracts: Role | None = None,
        judges: Role | None = None,
        effort: str = "",
    ) -> None:
        """``effort`` applies to replies. A role that is not given calls the model ``name`` with the defaults."""
        self.name = name
        self.endpoint = endpoint
        self.extracts = extracts or Role(name)
        self.judges = judges or Role(name)
        self.effort = effort

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and extract candidates from its user messages.

        Raises ModelUnavailable without an answer in time, ModelAnswerInvalid if it is refused, truncated or does not
        follow the schema. Candidates without a source message are dropped.
        """
        instructions = prompts.load("extract").substitute(
            fact_categories=", ".join(request.fact_categories),
            memory_categories=", ".join(request.memory_categories),
            fields=", ".join(FIELDS),
            longest=LONGEST_CONTENT,
        )
        text, usage = ask(
            self.endpoint,
            role=self.extracts,
            instructions=instructions,
            content=prompts.conversation(request),
            schema=extraction_schema(request.fact_categories, request.memory_categories),
        )
        with spent(usage):
            extraction, dropped = read_extraction(text, request, model=self.name, usage=usage)
        if dropped:
            log.info("model_candidates_dropped", model=self.name, dropped=dropped)
        return extraction

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> Compared:
        """Compare all pairs in one call; without pairs none is made.

        Raises ModelUnavailable, ModelAnswerInvalid (also if a pair has no verdict).
        """
        if not pairs:
            return Compared(())
        text, usage = ask(
            self.endpoint,
            role=self.judges,
            instructions=prompts.load("same_fact").template,
            content=prompts.statement_pairs(pairs),
            schema=verdicts_schema(),
        )
        with spent(usage):
            return Compared(tuple(read_verdicts(text, len(pairs))), usage)

    def choose_tools(self, request: ToolRequest) -> ChosenCalls:
        """Ask the model for the tool calls of one round.

        Returns none, without asking, if there are no user messages, no tools or no calls left. Raises ModelUnavailable
        without an answer in time, ModelAnswerInvalid if it is refused, truncated or all its calls are malformed. Single
        malformed calls are dropped, and those over the limit.
        """
        if not (request.tools and request.calls_left and any(message.role == "user" for message in request.messages)):
            return ChosenCalls((), self.name)
        instructions = prompts.load("choose_tools").substitute(
            memory_categories=", ".join(request.memory_categories),
            fields=", ".join(FIELDS),
            longest=LONGEST_CONTENT,
        )
        blocks, usage = ask_for_calls(
            self.endpoint,
            role=self.extracts,
            instructions=instructions,
            messages=messages_of(request),
            tools=tools_of(request),
        )
        with spent(usage):
            calls, dropped = read_calls(blocks, request)
        if dropped:
            log.info("model_calls_dropped", model=self.name, dropped=dropped)
        return ChosenCalls(calls, self.name, usage)

    async def reply(self, request: ReplyRequest) -> AsyncIterator[str | ReplyAnswer]:
        """Stream the next message of a chat: text as it comes, then the ReplyAnswer.

        Raises ModelUnavailable, ModelAnswerInvalid. Malformed calls are dropped, and all of a truncated answer.
        """
        tools = {"tools": tools_of(request), "tool_choice": tool_choice_of(request)} if request.tools else {}
        parts = stream(
            self.endpoint,
            role=Role(self.name, self.effort, request.most_tokens),
            system=list(request.system),
            messages=chat_messages(request),
            **tools,
        )
        async with aclosing(parts):
            async for part in parts:
                if isinstance(part, str):
                    yield part
                else:
                    yield read_reply(*part, request, self.name)

    def condense(self, memories: Sequence[KnownMemory]) -> Condensing:
        """Ask in one call how to merge memories into fewer; fewer than two are not asked about.

        Raises ModelUnavailable, ModelAnswerInvalid. Groups that break a rule are dropped.
        """
        if len(memories) < 2:
            return Condensing()
        text, usage = ask(
            self.endpoint,
            role=self.extracts,
            instructions=prompts.load("condense").substitute(longest=LONGEST_CONTENT),
            content=prompts.memories_to_condense(memories),
            schema=condensed_schema(),
        )
        with spent(usage):
            condensed, dropped = read_condensed(text, memories)
        if dropped:
            log.info("model_condensed_dropped", model=self.name, dropped=dropped)
        return Condensing(condensed, usage)

    def select(self, question: str, passages: Sequence[Passage], most: int) -> Selected:
        """Ask in one call for the ids of at most ``most`` passages that help to answer a question.

        Without passages no call is made. Raises ModelUnavailable, ModelAnswerInvalid. Unknown ids are dropped.
        """
        if not passages or most < 1:
            return Selected()
        text, usage = ask(
            self.endpoint,
            role=self.judges,
            instructions=prompts.load("select").substitute(most=most),
            content=prompts.passages_to_select(question, passages),
            schema=selected_schema(),
        )
        with spent(usage):
            chosen, dropped = read_selected(text, passages, most)
        if dropped:
            log.info("model_selected_dropped", model=self.name, dropped=dropped)
        return Selected(chosen, usage)

    def insights(self, request: InsightRequest) -> Insights:
        """Ask in one short call for insights: what memories and messages suggest. Without either no call is made.

        Raises ModelUnavailable, ModelAnswerInvalid. Insights that break a rule are dropped.
        """
        if not (request.memories or request.messages):
            return Insights()
        text, usage = ask(
            self.endpoint,
            # Without an effort: thinking tokens would use up the few tokens of the answer.
            role=Role(self.extracts.model, most_tokens=MOST_INSIGHT_TOKENS),
            instructions=prompts.load("insights").substitute(most=MOST_INSIGHTS, longest=LONGEST_CONTENT),
            content=prompts.insight_prompt(request),
            schema=insights_schema(),
        )
        with spent(usage):
            found, dropped = read_insights(text, request)
        if dropped:
            log.info("model_insights_dropped", model=self.name, dropped=dropped)
        return Insights(found, usage)


def from_settings(name: str) -> AnthropicModel:
    """The model ``name`` at ``ANTHROPIC_BASE_URL``. It compares statements with ``KEEPSAKE_JUDGE_MODEL``."""
    return AnthropicModel(
        name,
        Endpoint(
            base_url=settings.ANTHROPIC_BASE_URL,
            api_key=settings.ANTHROPIC_API_KEY,
            timeout_seconds=settings.KEEPSAKE_MODEL_TIMEOUT_SECONDS,
            retries=settings.KEEPSAKE_MODEL_RETRIES,
        ),
        extracts=Role(name, settings.KEEPSAKE_MODEL_EFFORT, settings.KEEPSAKE_MODEL_TOKENS),
        judges=Role(
            settings.KEEPSAKE_JUDGE_MODEL or name, settings.KEEPSAKE_JUDGE_EFFORT, settings.KEEPSAKE_JUDGE_TOKENS
        ),
        effort=settings.KEEPSAKE_REPLY_EFFORT,
    )
