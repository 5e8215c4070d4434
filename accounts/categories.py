"""The categories of memories and the allowlists of agent roles, read from ``categories.yaml``.

``KEEPSAKE_CATEGORIES`` is the path of a deployment's own file. A system check validates the file at start-up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

UNRESTRICTED_BUT = frozenset({"procedural"})
"""Categories hidden from agents without a role: procedures are for agents that execute them."""
_GROUPS = ("system", "custom")
_KEYS = {"name", "context", "rag_length", "aliases", "unused_days", "forget_below"}
_MOST_DAYS, _MOST_IMPORTANT = 3_650, 6
_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")


@dataclass(frozen=True, slots=True)
class Category:
    """A category. ``context`` is ``all`` or ``rag``; ``rag_length`` is the most items in one recall.

    Memories below the importance ``forget_below`` that were not used for ``unused_days`` (0: no limit) are archived.
    None means the deployment's setting.
    """

    name: str
    context: str
    rag_length: int
    unused_days: int | None = None
    forget_below: int | None = None


@dataclass(frozen=True)
class Categories:
    """All categories by canonical name, their aliases, and the allowlist of each role."""

    by_name: Mapping[str, Category]
    aliases: Mapping[str, str]
    allowlists: Mapping[str, frozenset[str]]

    def canonical(self, name: str) -> str | None:
        """Return the canonical name of a category or alias, or None."""
        name = name.strip().lower()
        return name if name in self.by_name else self.aliases.get(name)

    @cached_property
    def digest(self) -> str:
        """A hash of the names, contexts, lengths, aliases and roles, for cache keys. 16 hex digits."""
        known = sorted((category.name, category.context, category.rag_length) for category in self.by_name.values())
        roles = sorted((role, sorted(names)) for role, names in self.allowlists.items())
        return hashlib.sha256(repr((known, sorted(self.aliases.items()), roles)).encode()).hexdigest()[:16]

    def of_role(self, role: str) -> frozenset[str]:
        """Return the categories of a role; without a role all but procedural; none for an unknown role."""
        if not role:
            return frozenset(self.by_name) - UNRESTRICTED_BUT
        return self.allowlists.get(role, frozenset())


@cache
def load() -> Categories:
    """Read and validate the file, once a process. Raises ImproperlyConfigured with all errors in it."""
    path = Path(settings.KEEPSAKE_CATEGORIES or Path(__file__).parent / "categories.yaml")
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        msg = f"KEEPSAKE_CATEGORIES: {path.name} can't be read: {error}"
        raise ImproperlyConfigured(msg) from error
    categories, faults = parse(document)
    if faults:
        raise ImproperlyConfigured("KEEPSAKE_CATEGORIES: " + "; ".join(faults))
    return categories


def parse(document: Any) -> tuple[Categories, list[str]]:
    """Parse the YAML document. Returns the categories and all errors found."""
    faults: list[str] = []
    by_name: dict[str, Category] = {}
    aliases: dict[str, str] = {}
    document = document if isinstance(document, dict) else {}
    groups = document.get("categories")
    if not isinstance(groups, dict):
        return Categories({}, {}, {}), ["there is no mapping named categories"]
    faults += [f"categories has no group {group}, only system and custom" for group in groups.keys() - _GROUPS]
    for group in _GROUPS:
        entries = groups.get(group) or []
        if isinstance(entries, list):
            for entry in entries:
                _read_category(entry, by_name, aliases, faults)
        else:
            faults.append(f"{group} is not a list of categories")
    faults += [f"{alias} is a category and an alias of {name}" for alias, name in aliases.items() if alias in by_name]
    read = Categories(by_name, aliases, {})
    return Categories(by_name, aliases, _read_allowlists(document.get("allowlists"), read, faults)), faults


def _read_category(entry: Any, by_name: dict[str, Category], aliases: dict[str, str], faults: list[str]) -> None:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        faults.append(f"{entry!r} has no name of at most 50 lower case letters, digits and _")
        return
    context, length = entry.get("context"), entry.get("rag_length", 30)
    own_aliases = entry.get("aliases") or []
    if unknown := sorted(str(key) for key in entry.keys() - _KEYS):
        faults.append(f"{name} has unknown keys: {', '.join(unknown)}")
    if context not in ("all", "rag"):
        faults.append(f"the context of {name} is {context!r}, not all or rag")
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        faults.append(f"the rag_length of {name} is not a positive whole number")
        length = 1
    spans = {}
    for key, most in (("unused_days", _MOST_DAYS), ("forget_below", _MOST_IMPORTANT)):
        spans[key] = value = entry.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most):
            faults.append(f"the {key} of {name} is not a whole number from 0 to {most}")
    if name in by_name:
        faults.append(f"{name} is there twice")
    if not isinstance(own_aliases, list) or not all(isinstance(a, str) and _NAME.fullmatch(a) for a in own_aliases):
        faults.append(f"the aliases of {name} are not a list of names")
        own_aliases = []
    by_name[name] = Category(name, str(context), length, **spans)
    for alias in own_aliases:
        if alias in aliases:
            faults.append(f"the alias {alias} is there twice")
        aliases[alias] = name


def _read_allowlists(document: Any, read: Categories, faults: list[str]) -> dict[str, frozenset[str]]:
    if not isinstance(document or {}, dict):
        faults.append("allowlists is not a mapping of roles to lists of categories")
        return {}
    allowlists = {}
    for role, names in (document or {}).items():
        if not isinstance(role, str) or not 1 <= len(role) <= 40:
            faults.append(f"{role!r} is not the name of a role, of at most 40 characters")
        elif not isinstance(names, list):
            faults.append(f"the allowlist of {role} is not a list")
        else:
            meant = {str(name): read.canonical(str(name)) for name in names}
            if unknown := [name for name, category in meant.items() if category is None]:
                faults.append(f"the allowlist of {role} names unknown categories: {', '.join(unknown)}")
            allowlists[role] = frozenset(category for category in meant.values() if category)
    return allowlists


@register()
def check_categories(**_: Any) -> list[CheckMessage]:
    """Django system check accounts.E001: whether categories.yaml is valid."""
    try:
        load()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="accounts.E001")]
    return []
