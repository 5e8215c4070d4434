"""Generate ``shapes.py`` from Keepsake's schema and ``client.py`` from ``async_client.py``.

Run ``make client`` after a change of either; a test fails if the generated files are out of date.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "src/keepsake"
RESTS = {
    "NewMemoryRest": ("NewMemoryRequest", {"content", "category"}),
    "RewordRest": ("RewordRequest", {"content"}),
    "QueryRest": ("QueryRequest", {"query"}),
    "TurnRest": ("TurnRequestRequest", {"content"}),
    "ReplyRest": ("ReplyRequestRequest", {"content"}),
    "ToolCallRest": ("ToolCallRequest", {"arguments"}),
}
"""Typed dictionaries of a method's keyword arguments: the request's component without its positional arguments."""

WANTED = {"MemoriesWanted": "/api/v1/memories/"}
"""Typed dictionaries of lists' query parameters, by path."""

_SYNC = [
    (r"from asyncio import sleep", "from time import sleep"),
    (r"AsyncKeepsake", "Keepsake"),
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bAsync(Iterator|Client|BaseTransport)\b", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_lines)\b", r"\1"),
]


def shapes(schema: Mapping[str, Any]) -> str:
    """Return the source of ``shapes.py``: requests and responses as typed dictionaries."""
    components = schema["components"]["schemas"]
    source = (PACKAGE / "async_client.py").read_text()
    asked = set(re.findall(r"\bshapes\.(\w+)", source))
    body: list[str] = []
    done: set[str] = set()
    todo = sorted((asked | {whole for whole, _ in RESTS.values()}) - set(RESTS) - set(WANTED))
    for name in _reached(components, todo):
        if name not in done:
            done.add(name)
            body.append(_shape(name, components[name]))
    body += [_rest(name, components[whole], without) for name, (whole, without) in RESTS.items()]
    for name, path in WANTED.items():
        known = schema["paths"][path]["get"]["parameters"]
        fields = {each["name"]: each["schema"] for each in known if each["in"] == "query"}
        fields["filters"] = {"oneOf": [{"type": "string"}, {"type": "object"}]}
        body.append(_dictionary(name, fields, set(), "Parameters of a list."))
    head = '"""What is sent and answered. Generated from Keepsake\'s schema by ``tools/generate.py``."""\n\n'
    head += "from __future__ import annotations\n\nfrom typing import Any, Literal, NotRequired, TypedDict\n\n"
    return _formatted(head + "\n\n".join(body) + "\n")


def _reached(components: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    """Yield components after the ones they refer to, since type aliases are evaluated on import."""
    for name in names:
        inner = sorted(set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(components[name]))) - {name})
        yield from _reached(components, inner)
        yield name


def _shape(name: str, component: Mapping[str, Any]) -> str:
    if "properties" in component:
        told = component.get("description", "").split("\n")[0]
        return _dictionary(name, component["properties"], set(component.get("required", ())), told)
    return f"{name} = {_type(component)}\n"


def _rest(name: str, component: Mapping[str, Any], without: set[str]) -> str:
    fields = {each: kind for each, kind in component["properties"].items() if each not in without}
    return _dictionary(name, fields, set(), "What may be given by name.")


def _dictionary(name: str, fields: Mapping[str, Any], required: set[str], told: str) -> str:
    described = told if told.endswith(".") else f"{told}."
    typed = {each: _type(kind) for each, kind in fields.items()}
    typed = {each: kind if each in required else f"NotRequired[{kind}]" for each, kind in typed.items()}
    if any(not each.isidentifier() or each in {"return", "from", "class"} for each in fields):
        inside = ", ".join(f'"{each}": {kind}' for each, kind in typed.items())
        return f"{name} = TypedDict({name!r}, {{{inside}}})\n".replace("'", '"')
    lines = "\n".join(f"    {each}: {kind}" for each, kind in typed.items()) or "    pass"
    return f'class {name}(TypedDict):\n    """{described}"""\n\n{lines}\n'


_PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}


def _type(kind: Mapping[str, Any]) -> str:
    """Return the type annotation of a schema."""
    if "$ref" in kind:
        return str(kind["$ref"]).rsplit("/", 1)[1]
    if isinstance(kind.get("type"), list):
        return " | ".join(_type({**kind, "type": each}) for each in kind["type"])
    for together in ("oneOf", "anyOf", "allOf"):
        if together in kind:
            return " | ".join(dict.fromkeys(_type(each) for each in kind[together]))
    if "enum" in kind:
        return f"Literal[{', '.join(json.dumps(each) for each in kind['enum'])}]"
    if kind.get("type") == "array":
        return f"list[{_type(kind.get('items', {}))}]"
    return _PLAIN.get(kind.get("type", ""), "Any")


def sync_client() -> str:
    """Return the source of the synchronous client."""
    source = (PACKAGE / "async_client.py").read_text()
    _, _, rest = source.partition('"""\n')
    for pattern, instead in _SYNC:
        rest = re.sub(pattern, instead, rest)
    told = '"""The client that waits. Generated from ``async_client.py`` by ``tools/generate.py``."""\n'
    return _formatted(told + rest)


def _formatted(source: str) -> str:
    """Format a source with ruff."""
    for command in (["check", "--fix-only", "--select=I,F401", "-q"], ["format", "-q"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PACKAGE / "generated.py"), "-"],
            input=source, capture_output=True, text=True, check=True,
        )  # fmt: skip
        source = done.stdout
    return source


def generated(schema: Mapping[str, Any]) -> dict[Path, str]:
    """Return the generated files with their sources."""
    return {PACKAGE / "shapes.py": shapes(schema), PACKAGE / "client.py": sync_client()}


if __name__ == "__main__":
    for path, text in generated(json.loads(Path(sys.argv[1]).read_text())).items():
        path.write_text(text)
