"""Conversations from files: pure readers for each form, and the loader that appends what is not there yet."""

from .beam import parse_beam
from .documents import read_text
from .forms import EXPORTS, FORMS, Form, Survey, form_named, importable, recognised, survey_of
from .loading import Step, append_step, plan_step
from .locomo import parse_locomo
from .records import ImportFileError, ParsedConversation, ParsedFile, ParsedMessage
from .sources import Member, members_of

__all__ = [
    "EXPORTS",
    "FORMS",
    "Form",
    "ImportFileError",
    "Member",
    "ParsedConversation",
    "ParsedFile",
    "ParsedMessage",
    "Step",
    "Survey",
    "append_step",
    "form_named",
    "importable",
    "members_of",
    "parse_beam",
    "parse_locomo",
    "plan_step",
    "read_text",
    "recognised",
    "survey_of",
]
