"""``memory.query``: what is remembered, noted and was said that helps with a question."""

from .answering import Answer, Result, answer_question, memory_query
from .question import SOURCES, Filters, Question

__all__ = ["SOURCES", "Answer", "Filters", "Question", "Result", "answer_question", "memory_query"]
