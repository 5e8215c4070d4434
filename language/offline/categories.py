"""Under which category each kind of statement is kept."""

from __future__ import annotations

from collections.abc import Sequence

FACT_CATEGORIES: dict[str, str] = {
    "preference": "preference",
    "hobby": "hobby",
    "habit": "habit",
    "personality": "personality",
    "belief": "personality",
    "relationship": "relationship",
    "occupation": "occupation",
    "birth": "milestone",
    "death": "milestone",
    "milestone": "milestone",
    "education": "milestone",
    "event": "milestone",
}

# In order of choice; a deployment may know only some of them.
_ABOUT_THE_USER = ("profile", "context")
MEMORY_CATEGORIES: dict[str, tuple[str, ...]] = {
    "preference": ("preference", "interests", "profile"),
    "hobby": ("interests", "preference", "profile"),
    "habit": ("activity", "context", "profile"),
    "occupation": ("context", "profile"),
    "relationship": ("person", "relationships", "profile"),
    "possession": ("person", "relationships", "profile"),
    "goal": ("goals", "context", "profile"),
    "learning": ("goals", "context", "profile"),
    "project": ("project", "context"),
    "tooling": ("project", "context"),
    "milestone": ("event", "history", "context"),
    "event": ("event", "activity", "context"),
    "tone": ("tone", "style", "preference"),
    "health": ("constraints", "profile", "context"),
    "constraint": ("constraints", "preference", "profile"),
    "context": ("context", "profile"),
    "note": ("context", "profile"),
}
PERSON_CATEGORIES = ("person", "relationships", "context")

IMPORTANCE = {"name": 3, "pronouns": 3, "health": 3, "constraint": 3, "relationship": 3, "birth": 3}
DEFAULT_IMPORTANCE = 2


def fact_category(kind: str, known: Sequence[str]) -> str | None:
    """Return the legacy fact category for a kind among those known, "other" failing that, or None."""
    category = FACT_CATEGORIES.get(kind, "other")
    if category in known:
        return category
    return "other" if "other" in known else None


def memory_category(kind: str, about_user: bool, known: Sequence[str]) -> str | None:
    """Return the memory category for a kind among those known, or None when none of them suits."""
    choices = MEMORY_CATEGORIES.get(kind, _ABOUT_THE_USER) if about_user else PERSON_CATEGORIES
    for category in choices:
        for spelling in (category, category.removesuffix("s"), category + "s"):
            if spelling in known:
                return spelling
    return None
