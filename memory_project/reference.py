"""Pages of API documentation, rendered from the OpenAPI schema without scripts.

They are in English like the schema, whatever the person's language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

Node = Mapping[str, Any]
_EXAMPLES: dict[str, Any] = {"integer": 1, "number": 0.5, "boolean": True, "array": [], "object": {}}
_PREFIX = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field of a body. ``where`` is a parameter's location: path, query or header."""

    name: str
    kind: str
    says: SafeString
    required: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class ResponseDoc:
    """A response: status, description and type of the body ('' without one)."""

    status: str
    says: SafeString
    kind: str


@dataclass(frozen=True, slots=True)
class ComponentDoc:
    """A schema component: an object with fields, or an enumeration with values."""

    name: str
    says: SafeString
    fields: list[Field]
    values: list[str]


class Operation:
    """One operation of the schema, for its page."""

    def __init__(self, path: str, method: str, node: Node, shapes: Mapping[str, Node]) -> None:
        self.path, self.method, self._node, self._shapes = path, method.upper(), node, shapes
        self.name: str = node["operationId"]
        self.tag: str = node["tags"][0]
        self.summary: str = node.get("summary") or self.name

    def is_about(self, words: list[str]) -> bool:
        """Whether its path, summary and description contain all words, given in lower case."""
        text = f"{self.method} {self.path} {self.summary} {self._node.get('description', '')}".lower()
        return all(word in text for word in words)

    @property
    def summary_line(self) -> SafeString:
        """The summary as HTML, with backticks as code."""
        return coded(self.summary)

    @property
    def description(self) -> SafeString:
        """The description as HTML paragraphs."""
        return prose(self._node.get("description", ""))

    @property
    def parameters(self) -> list[Field]:
        """The parameters in path, query and headers."""
        return [
            Field(
                each["name"],
                kind_of(each["schema"]),
                prose(each.get("description", "")),
                each.get("required", False),
                each["in"],
            )
            for each in self._node.get("parameters", ())
        ]

    @cached_property
    def body(self) -> Node:
        """The schema of the request body; empty without one."""
        content = self._node.get("requestBody", {}).get("content", {})
        return next((each["schema"] for each in content.values()), {})

    @property
    def body_kind(self) -> str:
        """The type of the request body in words; '' without one."""
        return kind_of(self.body) if self.body else ""

    @property
    def answers(self) -> list[ResponseDoc]:
        """The responses by status."""
        return [
            ResponseDoc(status, prose(each.get("description", "")), kind_of(_content(each)) if _content(each) else "")
            for status, each in sorted(self._node["responses"].items())
        ]

    @property
    def shapes(self) -> list[ComponentDoc]:
        """The components used by the request and the responses, nested ones included, each once."""
        found: dict[str, None] = {}
        waiting = [self.body, *(_content(each) for each in self._node["responses"].values())]
        while waiting:
            for name in _refs(waiting.pop(0)):
                if name not in found and name in self._shapes:
                    found[name] = None
                    waiting.append(self._shapes[name])
        return [_shape(name, self._shapes[name]) for name in found]

    def curl(self, address: str) -> str:
        """Return a curl command that calls it on the server at ``address``, with shell variables as placeholders."""
        path = re.sub(r"\{(\w+)\}", lambda each: f"${{{each[1].upper()}}}", self.path)
        asked = [
            f"{each['name']}=${{{each['name'].upper()}}}"
            for each in self._node.get("parameters", ())
            if each["in"] == "query" and each.get("required")
        ]
        lines = [f'curl "{address}{path}{"?" if asked else ""}{"&".join(asked)}"', '-H "Authorization: Bearer $KEY"']
        if self.method != "GET":
            lines[0] = lines[0].replace("curl ", f"curl -X {self.method} ", 1)
        if "multipart/form-data" in self._node.get("requestBody", {}).get("content", {}):
            lines += [f"-F {name}=@FILE" for name in self._resolved(self.body).get("required", ())]
        elif self.body:
            sent = json.dumps(self._example(self.body), ensure_ascii=False).replace("'", "’")
            lines += ['-H "Content-Type: application/json"', f"-d '{sent}'"]
        return " \\\n  ".join(lines)

    def _resolved(self, node: Node) -> Node:
        return self._shapes.get(node.get("$ref", "").removeprefix(_PREFIX), node)

    def _example(self, node: Node, depth: int = 0) -> Any:
        node = self._resolved(node)
        for several in ("oneOf", "anyOf", "allOf"):
            if node.get(several):
                return self._example(node[several][0], depth)
        if "enum" in node:
            return node["enum"][0]
        kind = node.get("type", "string")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object" and "properties" in node and depth < 4:
            fields = node["properties"]
            names = node.get("required") or list(fields)[:2]
            return {name: self._example(fields[name], depth + 1) for name in names if name in fields}
        if kind == "array" and depth < 4:
            return [self._example(node.get("items", {}), depth + 1)]
        return _EXAMPLES.get(kind, "…")


def _content(answer: Node) -> Node:
    return next((each.get("schema", {}) for each in answer.get("content", {}).values()), {})


def _refs(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(_PREFIX)
        for each in node.values():
            yield from _refs(each)
    elif isinstance(node, list):
        for each in node:
            yield from _refs(each)


def _shape(name: str, node: Node) -> ComponentDoc:
    required = node.get("required", ())
    fields = [
        Field(each, kind_of(inner), prose(inner.get("description", "")), each in required)
        for each, inner in node.get("properties", {}).items()
    ]
    return ComponentDoc(name, prose(node.get("description", "")), fields, [str(each) for each in node.get("enum", ())])


def kind_of(node: Node) -> str:
    """Return a schema's type in words: "list of Memory", "integer, 1 to 100", "string or nothing"."""
    if "$ref" in node:
        return str(node["$ref"]).removeprefix(_PREFIX)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in node:
            return " or ".join(dict.fromkeys(kind_of(each) for each in node[several]))
    if "enum" in node:
        return "one of " + ", ".join(json.dumps(each) for each in node["enum"])
    kinds = node.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    said = " or ".join("nothing" if each == "null" else each for each in kinds)
    if "array" in kinds:
        said = said.replace("array", f"list of {kind_of(node.get('items', {}))}")
    if "format" in node:
        said += f" ({node['format']})"
    return said + _bounds(node)


def _bounds(node: Node) -> str:
    for least, most, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        low, high = node.get(least), node.get(most)
        if high is not None:
            return f", {low} to {high}{unit}" if low is not None else f", at most {high}{unit}"
        if low is not None:
            return f", at least {low}{unit}"
    return ""


def prose(text: str) -> SafeString:
    """Render a description as HTML paragraphs, with backticks as code."""
    paragraphs = [each for each in re.split(r"\n\s*\n", text.strip()) if each]
    return format_html_join("", "<p>{}</p>", ((coded(each),) for each in paragraphs))


def coded(text: str) -> SafeString:
    """Render a text as HTML, with backticks as code."""
    return mark_safe(re.sub(r"(`{1,2})(.+?)\1", r"<code>\2</code>", escape(text)))  # noqa: S308 -- escaped


@cache
def _schema() -> Mapping[str, Any]:
    """Return the schema, cached per process: generating it takes half a second, and the pages are public."""
    with override("en"):
        made: Mapping[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
        return made


@cache
def _rendered(name: str) -> str | bytes:
    """Return the schema rendered by one of the view's renderers, named by its class."""
    renderer = next(each for each in Schema.renderer_classes if each.__name__ == name)
    rendered: str | bytes = renderer().render(_schema(), renderer_context={})
    return rendered


class Schema(SpectacularAPIView):
    """The schema as a file to download."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        renderer = request.accepted_renderer
        named = {"Content-Disposition": f'inline; filename="{self._get_filename(request, "")}"'}
        return HttpResponse(_rendered(type(renderer).__name__), content_type=renderer.media_type, headers=named)


@cache
def operations() -> dict[str, Operation]:
    """Return all operations by id, in the order of the schema."""
    schema = _schema()
    shapes = schema["components"]["schemas"]
    found = (
        Operation(path, method, node, shapes)
        for path, methods in schema["paths"].items()
        for method, node in methods.items()
    )
    return {each.name: each for each in found}


def index(request: HttpRequest) -> HttpResponse:
    """Render the list of operations by tag, filtered by the words of ``search``."""
    search = " ".join(request.GET.get("search", "").split())[:200]
    groups: dict[str, list[Operation]] = {}
    for each in operations().values():
        if each.is_about(search.lower().split()):
            groups.setdefault(each.tag, []).append(each)
    return render(request, "reference/index.html", {"groups": sorted(groups.items()), "search": search})


def operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Render the page of one operation. Raises Http404 for an unknown one."""
    found = operations().get(operation_id)
    if found is None:
        raise Http404
    address = request.build_absolute_uri("/").rstrip("/")
    return render(request, "reference/operation.html", {"operation": found, "curl": found.curl(address)})
