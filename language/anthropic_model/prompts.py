"""The prompts: fixed instructions from files, and escaped user data between XML tags."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

from language.base import ExtractionRequest, KnownMemory, Passage, ToolRequest, Utterance
from language.fencing import as_data, escaped
from language.insights import InsightRequest

LONGEST_RECORD = 240_000
"""Maximum characters of a batch's messages in one prompt."""

DIRECTORY = Path(__file__).resolve().parent.parent / "prompts"


@cache
def load(name: str) -> Template:
    """Load the prompt file ``name``, cached per process, as a template with ``$word`` placeholders."""
    return Template((DIRECTORY / f"{name}.md").read_text(encoding="utf-8"))


def conversation(request: ExtractionRequest) -> str:
    """The prompt of a batch. Names are escaped too.

    If a batch is longer than ``LONGEST_RECORD``, its longest messages are truncated to one length.
    """
    return f"{_people(request)}\n{_record(request.messages)}\nThe record ends here. Write the JSON object about it."


def conversation_for_tools(request: ToolRequest) -> str:
    """The prompt of a batch for the tool loop, truncated like ``conversation``."""
    return (
        f"{_people(request)}\n"
        f"{_record(request.messages)}\n"
        f"The record ends here. Call the tools for what it gives, at most {request.most_calls} times, or none."
    )


def known_memories(memories: Sequence[KnownMemory]) -> str:
    """The known memories as XML."""
    lines = [
        f'<memory id="{_attribute(memory.id)}" category="{_attribute(memory.category)}" '
        f'subject="{_attribute(memory.subject)}" field="{_attribute(memory.field)}" date="{memory.date.isoformat()}">'
        f"{escaped(memory.content)}</memory>"
        for memory in memories
    ]
    return "\n".join(["<memories>", *lines, "</memories>"])


def statement_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Numbered (existing, new) pairs as XML."""
    lines = [
        f'<pair number="{number}">\n<existing>{escaped(existing)}</existing>\n<new>{escaped(new)}</new>\n</pair>'
        for number, (existing, new) in enumerate(pairs)
    ]
    return "\n".join(["<pairs>", *lines, "</pairs>", "The pairs end here. Write the JSON object about them."])


def memories_to_condense(memories: Sequence[KnownMemory]) -> str:
    """The prompt of the memories to merge."""
    return f"{known_memories(memories)}\nThe memories end here. Write the JSON object about them."


def insight_prompt(request: InsightRequest) -> str:
    """The prompt of recent memories and messages for insights."""
    return (
        f"{known_memories(request.memories)}\n{_record(request.messages)}\nThe record ends here. Write the JSON object."
    )


def passages_to_select(question: str, passages: Sequence[Passage]) -> str:
    """The prompt of a question and its candidate passages; the longest are truncated to fit."""
    longest = fair_length([len(passage.text) for passage in passages], LONGEST_RECORD)
    lines = [
        f'<passage id="{_attribute(passage.id)}">{escaped(passage.text[:longest])}</passage>' for passage in passages
    ]
    asked = f"<question>{escaped(question)}</question>"
    return "\n".join([asked, "<passages>", *lines, "</passages>", "The passages end here. Write the JSON object."])


def fair_length(lengths: Sequence[int], total: int) -> int:
    """The length to truncate texts to so that their sum is at most ``total``."""
    left, waiting = total, len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return left // waiting
        left, waiting = left - length, waiting - 1
    return max(lengths, default=0)


def _people(request: ExtractionRequest | ToolRequest) -> str:
    legacy = "" if request.legacy_name is None else f' legacy="{_attribute(request.legacy_name)}"'
    return f'<people user="{_attribute(request.user_name)}"{legacy}/>'


def _record(messages: Sequence[Utterance]) -> str:
    longest = fair_length([len(message.content) for message in messages], LONGEST_RECORD)
    return "\n".join(["<messages>", *(_message(message, longest) for message in messages), "</messages>"])


def _message(message: Utterance, longest: int) -> str:
    content = message.content if len(message.content) <= longest else f"{message.content[:longest]} […]"
    return (
        f'<message index="{message.index}" role="{_attribute(message.role)}" speaker="{_attribute(message.speaker)}" '
        f'time="{message.at.isoformat(timespec="seconds")}">\n{escaped(content)}\n</message>'
    )


def _attribute(text: str) -> str:
    return as_data(text).replace('"', "&quot;")
