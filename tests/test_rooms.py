"""The order of the rooms: each imports only from those before it, and no models point the other way."""

import ast
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).parent.parent
ROOMS = [
    "language",
    "retrieval",
    "journal",
    "accounts",
    "conversations",
    "memories",
    "facts",
    "assistant",
    "desk",
    "interop",
    "memory_project",
]


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        else:
            continue
        yield from (name.split(".")[0] for name in names if name.split(".")[0] in ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_rooms_before_it(room):
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    upward = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / room).rglob("*.py")
        for name in imported_rooms(path)
        if name not in allowed
    }
    assert not upward


def test_foreign_keys_point_to_rooms_before():
    for model in apps.get_models():
        room = model._meta.app_label
        if room not in ROOMS:
            continue
        for field in model._meta.get_fields():
            target = getattr(field, "related_model", None)
            if not field.concrete or target is None or target._meta.app_label not in ROOMS:
                continue
            assert ROOMS.index(target._meta.app_label) <= ROOMS.index(room), f"{model.__name__}.{field.name}"


def test_only_actions_write():
    """Rows are created, changed and deleted in actions modules; elsewhere only in tests, demos and migrations."""
    writing = {"save", "delete", "bulk_create", "bulk_update", "get_or_create", "update_or_create"}
    offenders = set()
    for room in ("accounts", "conversations", "memories", "facts", "assistant", "desk", "interop"):
        for path in (ROOT / room).rglob("*.py"):
            place = path.relative_to(ROOT)
            if "actions" in str(place) or "migrations" in place.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in writing:
                    offenders.add(f"{place}:{node.lineno} {node.func.attr}")
    assert not offenders
