"""Evaluation of recall, duplicates and extraction on datasets of conversations with questions."""

from .datasets import Case, Question, parse_cases
from .figures import Outcome, Report
from .measuring import count_steps, measure
from .turns import measure_turns, turns_as_json
from .vector_cache import CachingEmbedder, VectorCacheError

__all__ = [
    "CachingEmbedder",
    "Case",
    "Outcome",
    "Question",
    "Report",
    "VectorCacheError",
    "count_steps",
    "measure",
    "measure_turns",
    "parse_cases",
    "turns_as_json",
]
