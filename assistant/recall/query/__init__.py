"""``memory.query``: search in memories, facts, summaries and messages."""

from .answering import QueryAnswer, Result, answer_question, memory_query
from .api import LONGEST_QUERY, as_plain
from .question import SOURCES, Question

__all__ = [
    "LONGEST_QUERY",
    "SOURCES",
    "QueryAnswer",
    "Question",
    "Result",
    "answer_question",
    "as_plain",
    "memory_query",
]
