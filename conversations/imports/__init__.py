"""Parsers of conversation files, one per format. ``assistant.imports`` stores what they return."""

from .datasets import parse_beam, parse_locomo
from .forms import EXPORTS, FORMS, KEEPSAKE, Form, Survey, form_named, importable, recognised, survey_of
from .records import ImportFileError, ParsedConversation, ParsedFile, ParsedMessage, read_text
from .sources import Member, members_of

__all__ = [
    "EXPORTS",
    "FORMS",
    "KEEPSAKE",
    "Form",
    "ImportFileError",
    "Member",
    "ParsedConversation",
    "ParsedFile",
    "ParsedMessage",
    "Survey",
    "form_named",
    "importable",
    "members_of",
    "parse_beam",
    "parse_locomo",
    "read_text",
    "recognised",
    "survey_of",
]
