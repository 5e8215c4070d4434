"""Conversations for the tests of the offline rules."""

from datetime import UTC, datetime

from language.base import ExtractionRequest, Utterance

FACT_CATEGORIES = ("personality", "hobby", "relationship", "milestone", "occupation", "preference", "habit", "other")
MEMORY_CATEGORIES = (
    "profile", "person", "preference", "context", "project", "goals", "tasks", "relationships", "tone", "style",
    "constraints", "event", "activity", "knowledge", "interests", "history",
)  # fmt: skip
# A Monday.
AT = datetime(2023, 5, 8, 13, tzinfo=UTC)


def conversation(*said, legacy=None, user="Ana", categories=MEMORY_CATEGORIES, facts=FACT_CATEGORIES, first_index=0):
    """A batch of messages; what begins with "guide>" is said by the other side."""
    messages = []
    for index, content in enumerate(said, start=first_index):
        theirs = content.startswith("guide>")
        messages.append(
            Utterance(
                index,
                "assistant" if theirs else "user",
                "Guide" if theirs else user,
                content.removeprefix("guide>").lstrip() if theirs else content,
                AT,
            )
        )
    return ExtractionRequest(messages, user, legacy, facts, categories)
