"""Base classes of tools: definition, answer, parsing of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from accounts.principals import Principal
from journal.models import IdempotencyRecord
from language.base import arguments_schema


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a call. ``content`` is for the model, ``data`` is the same as JSON for the program.

    If ``ok`` is false, nothing was changed; ``content`` says why and what to do instead, ``data`` has a ``code``.
    """

    ok: bool
    content: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a tool: principal, conversation, message."""

    principal: Principal
    conversation_id: UUID | None = None
    message_id: UUID | None = None


class Arguments(BaseModel):
    """Arguments of a tool. The fields define the JSON schema and the validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, sent: Any) -> Any:
        """Remove nulls, which models send for omitted arguments."""
        return {name: value for name, value in sent.items() if value is not None} if isinstance(sent, dict) else sent


class OperationArguments(Arguments):
    """Arguments of a tool with several operations, each with required and optional arguments."""

    operation: str
    needs: ClassVar[Mapping[str, tuple[str, ...]]]
    may_take: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, sent: Any) -> Any:
        """Remove empty texts and lists, which models send for arguments of other operations."""
        if not isinstance(sent, dict):
            return sent
        return {name: value for name, value in sent.items() if value not in ("", [])}

    @model_validator(mode="after")
    def _fit_the_operation(self) -> Self:
        given = self.model_fields_set - {"operation"}
        needed = self.needs[self.operation]
        taken = (*needed, *self.may_take.get(self.operation, ()))
        missing = [name for name in needed if name not in given]
        if missing:
            msg = f"{self.operation} needs {', '.join(missing)}"
            raise ValueError(msg)
        strange = sorted(given.difference(taken))
        if strange:
            msg = f"{self.operation} takes {', '.join(taken) or 'nothing else'}, and no {', '.join(strange)}"
            raise ValueError(msg)
        return self


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: name, description, arguments and implementation.

    ``run`` calls the rooms' actions and raises their errors. ``replay`` answers a repeated request from the result of
    the first. ``offered``: whether a principal has the tool. ``advice``: by error code, a hint for the model;
    ``{named}`` is the conflicting memory, ``{id}`` its id. ``reads_only``: needs no write scope.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[Caller, A], ToolAnswer]
    replay: Callable[[Principal, A, IdempotencyRecord], ToolAnswer]
    offered: Callable[[Principal], bool] = lambda _: True
    advice: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ("system", "memory")
    risk_level: str = "low"
    requires_confirmation: bool = False
    reads_only: bool = False

    def read(self, sent: object) -> A:
        """Parse arguments sent as an object or as JSON text. Raises ValidationError."""
        if isinstance(sent, str):
            return self.arguments.model_validate_json(sent or "{}")
        return self.arguments.model_validate(sent)

    def explain(self, error: ValidationError) -> ToolAnswer:
        """Describe the errors of each argument, without repeating its value."""
        faults = [
            {"argument": ".".join(map(str, each["loc"])), "problem": self._problem(each)}
            for each in error.errors(include_url=False, include_input=False)
        ]
        told = "; ".join(f"{each['argument'] or 'arguments'}: {each['problem']}" for each in faults)
        return ToolAnswer(False, f"Nothing was done. {told}.", {"code": "bad_arguments", "errors": faults})

    def _problem(self, error: ErrorDetails) -> str:
        known = ", ".join(self.arguments.model_fields)
        if error["type"] == "missing":
            return "this argument is required"
        if error["type"] == "extra_forbidden":
            return f"there is no such argument; there are {known}"
        if error["type"] in {"model_type", "json_invalid"}:
            return f"send a JSON object with {known}"
        return error["msg"].removeprefix("Value error, ").rstrip(".")


def input_schema(tool: Tool[Any], categories: list[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, in the subset that model providers support.

    Category arguments are restricted to ``categories``.
    """
    arguments: type[Arguments] = tool.arguments
    schema = arguments_schema(arguments)
    properties: dict[str, Any] = {}
    for name, described in schema["properties"].items():
        kept = {key: value for key, value in described.items() if key != "title" and (key != "default" or value)}
        if name == "category":
            kept["enum"] = categories
        elif name == "categories":
            kept["items"] = {"type": "string", "enum": categories}
        properties[name] = kept
    required = schema.get("required", [])
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
