"""Parsers of conversation files, one per format. ``assistant.imports`` stores what they return."""

from .datasets import parse_beam, parse_locomo
from .forms import EXPORTS, FORMS, KEEPSAKE, Form, Survey, detect_form, get_form, iter_importable, survey_file
from .records import ImportFileError, ParsedConversation, ParsedFile, ParsedMessage, read_text
from .sources import ArchiveMember, archives_within, members_of

__all__ = [
    "EXPORTS",
    "FORMS",
    "KEEPSAKE",
    "ArchiveMember",
    "Form",
    "ImportFileError",
    "ParsedConversation",
    "ParsedFile",
    "ParsedMessage",
    "Survey",
    "archives_within",
    "detect_form",
    "get_form",
    "iter_importable",
    "members_of",
    "parse_beam",
    "parse_locomo",
    "read_text",
    "survey_file",
]
