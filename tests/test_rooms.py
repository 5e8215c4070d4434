"""The rooms: their order, in imports and foreign keys, who writes, what stands where, and how long files are."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).parent.parent
ROOMS = [
    "language",
    "retrieval",
    "journal",
    "web",
    "accounts",
    "conversations",
    "statements",
    "memories",
    "facts",
    "assistant",
    "desk",
    "interop",
    "memory_project",
]


@pytest.fixture(scope="module", autouse=True)
def _files_are_parsed_once():
    """By each process, which keeps none of them: they are a million objects."""
    yield
    nodes.cache_clear()


@cache
def nodes(path):
    """All that a file's syntax is made of."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported_rooms(path):
    for node in nodes(path):
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


def imports_of(path):
    """The modules that a file imports, from anywhere in it, by their full names."""
    package = list(path.relative_to(ROOT).parts[:-1])
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


PARTS = {
    "assistant": ["recall", "learn", "tools", "reply", "takeout", "erasure", "imports", "demo"],
    "desk": [
        "translation", "labels", "diff", "page", "outcomes", "quotations", "listing", "cards", "history", "elsewhere",
        "erasures", "withheld", "conversations", "chat", "legacies", "memories", "agents", "review", "places",
        "importing", "timeline", "account", "bulk", "decisions", "undo", "first_run", "home", "urls",
    ],
}  # fmt: skip
"""The packages and modules of a room, each of which imports only from those before it."""


@pytest.mark.parametrize("room", PARTS)
def test_a_part_of_a_room_imports_only_from_parts_before_it(room):
    parts = PARTS[room]
    upward = {
        f"{path.relative_to(ROOT)} imports {name}"
        for number, part in enumerate(parts)
        for path in (ROOT / room).rglob("*.py")
        if path.relative_to(ROOT / room).parts[0].removesuffix(".py") == part
        for name in imports_of(path)
        for later in parts[number + 1 :]
        if f"{name}.".startswith(f"{room}.{later}.")
    }
    assert not upward


def test_every_part_of_the_desk_has_its_place_in_the_order():
    found = {path.name.removesuffix(".py") for path in (ROOT / "desk").iterdir() if not path.name.startswith("__")}
    assert found - {"apps", "templatetags"} == set(PARTS["desk"])


def test_only_the_command_that_runs_the_evaluation_imports_benchmarks():
    importers = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if any(name.split(".")[0] == "benchmarks" for name in imports_of(path))
    }
    assert importers == {"assistant/management/commands/evaluate.py"}


def product_files():
    return [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if "migrations" not in path.parts]


def length(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_longer_than_400_lines():
    paths = {str(path.relative_to(ROOT)): path for path in (*product_files(), *(ROOT / "benchmarks").rglob("*.py"))}
    assert {name for name, path in paths.items() if length(path) > 400} == set()


SHORT_LINES = 60
MOST_SHORT = 0.2
"""A file is a thing that one looks for: merge a small one into the file where one would look. Never raise this."""


def test_few_files_are_short():
    paths = [*product_files(), *(ROOT / "benchmarks").rglob("*.py")]
    short = [path for path in paths if length(path) < SHORT_LINES]
    assert len(short) / len(paths) <= MOST_SHORT, f"{len(short)} of {len(paths)} files"


def test_files_have_the_fixed_names():
    """Tables stand in models, Celery's tasks in tasks, the staff's pages in admin; nothing is called utils."""
    astray = set()
    for path in product_files():
        place = path.relative_to(ROOT)
        names = {part.removesuffix(".py") for part in place.parts[1:]}
        if names & {"utils", "helpers", "common", "misc"}:
            astray.add(f"{place}: say what is in it")
        for node in nodes(path):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                said = ast.unparse(decorator)
                if said.startswith("shared_task") and "tasks" not in names:
                    astray.add(f"{place}: a task outside of tasks.py")
                if said.startswith("admin.register") and "admin" not in names:
                    astray.add(f"{place}: an admin outside of admin")
            bases = [ast.unparse(base) for base in getattr(node, "bases", [])]
            if "models.Model" in bases and "models" not in names and str(place) != "retrieval/fields.py":
                astray.add(f"{place}: a table outside of models")
    assert not astray


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


WRITES = {"save", "create", "update", "delete", "bulk_create", "bulk_update", "get_or_create", "update_or_create"}
WRITE_TOO = {
    "journal/leases.py": "Jobs and their leases: what actions modules are elsewhere.",
    "journal/cache.py": "Deletes keys of the cache.",
    "language/anthropic_model/call.py": "Creates messages at the model's server.",
    "retrieval/vectors.py": "Stores vectors for the actions of each room.",
}


def test_only_actions_write():
    """Rows are created, changed and deleted in actions modules; elsewhere only in tests, demos and migrations."""
    offenders = set()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        place = path.relative_to(ROOT)
        if "migrations" in place.parts or str(place) in WRITE_TOO:
            continue
        if any(re.fullmatch(r"(\w+_)?actions(\.py)?", part) for part in place.parts):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and writes(node, node.func.attr):
                offenders.add(f"{place}:{node.lineno} {node.func.attr}")
    assert not offenders


def writes(call, name):
    """Whether a call may write rows. What a dict or a hash is updated with is positional, which no queryset takes."""
    return name.removeprefix("a") in WRITES - {"update"} or (name in {"update", "aupdate"} and not call.args)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("rows.update(state=1)", True),
        ("Memory.objects.filter(pk=pk).update(**values)", True),
        ("await rows.aupdate(state=1)", True),
        ("user.memories.create(content=text)", True),
        ("memory.save()", True),
        ("counts.update(other)", False),
        ("digest.update(part.encode())", False),
        ("memory_archive(principal, pk)", False),
    ],
)
def test_what_writes_is_told_from_what_does_not(code, found):
    (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)][:1]
    assert (isinstance(call.func, ast.Attribute) and writes(call, call.func.attr)) is found
