"""Conversations from files: pure parsers for each form, and the loader that appends what is not there yet."""

from .beam import parse_beam
from .documents import read_text
from .jsonl import parse_jsonl
from .loading import Step, append_step, plan_step
from .locomo import parse_locomo
from .records import ImportFileError, ParsedConversation, ParsedFile, ParsedMessage

__all__ = [
    "ImportFileError",
    "ParsedConversation",
    "ParsedFile",
    "ParsedMessage",
    "Step",
    "append_step",
    "parse_beam",
    "parse_jsonl",
    "parse_locomo",
    "plan_step",
    "read_text",
]
