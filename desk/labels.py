"""Translated labels of categories, roles, states and other column values on pages.

The models' own labels stay English, for programs and staff.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from accounts import categories
from memories.policy.fields import MAY_SET_A_FIELD
from memories.records import FIELD_WAITS, KEPT, RELAYED, UNANSWERED
from statements.models import ERASURE_WAITS
from statements.policy import HELD_BACK, waits_in_words
from statements.policy.resembling import RESEMBLES
from statements.wording import REVIEW_REASONS

OF_COLUMNS = {
    # Categories of facts.
    *(gettext_noop("Personality"), gettext_noop("Hobby"), gettext_noop("Relationship"), gettext_noop("Milestone")),
    *(gettext_noop("Occupation"), gettext_noop("Preference"), gettext_noop("Habit"), gettext_noop("Other")),
    # Who sees a fact, and its states.
    *(gettext_noop("Private"), gettext_noop("Shared"), gettext_noop("Proposed"), gettext_noop("Active")),
    *(gettext_noop("Archived"), gettext_noop("Rejected"), gettext_noop("Hidden"), gettext_noop("Quarantined")),
    # Kinds and fields of memories.
    *(gettext_noop("Semantic"), gettext_noop("Episodic"), gettext_noop("Insight"), gettext_noop("Procedural")),
    *(gettext_noop("Preferred Name"), gettext_noop("Pronouns"), gettext_noop("City"), gettext_noop("Language")),
    *(gettext_noop("Tone"), gettext_noop("Goal")),
}
"""The labels that pages show. A test compares them with the tables'."""
CATEGORIES = {
    "profile": gettext_noop("Profile"),
    "person": gettext_noop("Person"),
    "preference": gettext_noop("Preference"),
    "context": gettext_noop("Context"),
    "project": gettext_noop("Project"),
    "goals": gettext_noop("Goals"),
    "tasks": gettext_noop("Tasks"),
    "relationships": gettext_noop("Relationships"),
    "tone": gettext_noop("Tone"),
    "style": gettext_noop("Style"),
    "constraints": gettext_noop("Constraints"),
    "event": gettext_noop("Event"),
    "activity": gettext_noop("Activity"),
    "knowledge": gettext_noop("Knowledge"),
    "interests": gettext_noop("Interests"),
    "history": gettext_noop("History"),
    "recent_activity": gettext_noop("Recent activity"),
    "relationship_dynamic": gettext_noop("Relationship dynamic"),
    "procedural": gettext_noop("Procedural"),
}
STATES = (
    *(gettext_noop("active"), gettext_noop("hidden"), gettext_noop("waiting"), gettext_noop("approved")),
    gettext_noop("archived"),
    *(gettext_noop("lapsed"), gettext_noop("making"), gettext_noop("preview"), gettext_noop("applied")),
    *(gettext_noop("reverted"), gettext_noop("discarded"), gettext_noop("title"), gettext_noop("topic")),
)
"""What refusals of other rooms fill in, beside the words that stand elsewhere on pages."""
ROLES = {
    "supervisor": gettext_noop("supervisor"),
    "planner": gettext_noop("planner"),
    "stylist": gettext_noop("stylist"),
    "researcher": gettext_noop("researcher"),
    "executor": gettext_noop("executor"),
}


BUILT_IN = "offline rules"
"""How the names begin under which what no model wrote is stored, whatever version of the rules it was."""


def in_words(choices: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """Return a column's choices with translated labels."""
    return [(value, label(name)) for value, name in choices]


def label(name: object) -> str:
    """Return the translated label of a column's value."""
    return _label(str(name), get_language())


@lru_cache(maxsize=1_024)
def _label(name: str, _language: str | None) -> str:
    return _("Put away") if name == "Archived" else _(name)


def category_label(name: str) -> str:
    """Return a category's heading; categories added by a deployment keep their name."""
    return _category_label(name, get_language())


@lru_cache(maxsize=1_024)
def _category_label(name: str, _language: str | None) -> str:
    return _(CATEGORIES[name]) if name in CATEGORIES else name.replace("_", " ").capitalize()


def category_in_text(name: str) -> str:
    """Return a category's name within a sentence, in lower case where the language does so."""
    shown = category_label(name)
    return shown.lower() if shown == CATEGORIES.get(name, shown) else shown


_OF_REVIEW = {RESEMBLES, UNANSWERED, KEPT, RELAYED, MAY_SET_A_FIELD, *filter(None, REVIEW_REASONS.values())}
_REASONS = {ERASURE_WAITS, FIELD_WAITS, *_OF_REVIEW}


def reason_in_words(text: str) -> str:
    """Translate a stored reason: a gate's is in English, others are people's words."""
    return waits_in_words(text) if text in _REASONS or text.startswith(HELD_BACK) else text


def writer_label(written_by: str) -> str:
    """Return the label of a writer, including the built-in rules."""
    return _("the built-in rules") if written_by.startswith(BUILT_IN) else written_by


def role_label(name: str) -> str:
    """Return the label of a role."""
    return _(ROLES[name]) if name in ROLES else name


def memory_categories() -> list[tuple[str, str]]:
    """Return the choices of memory categories."""
    return [(name, category_label(name)) for name in categories.load().by_name]
