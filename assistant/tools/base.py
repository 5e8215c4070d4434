"""What a tool is, what it answers, and how what a model sent becomes its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from accounts.principals import Principal
from journal.models import IdempotencyRecord


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What came of a call. ``content`` is for the model, ``data`` holds the same as JSON for the program around it.

    With ``ok`` false nothing was changed; ``content`` says why and what can be done instead, and ``data`` has a
    ``code``.
    """

    ok: bool
    content: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and in which conversation, at which message."""

    principal: Principal
    conversation_id: UUID | None = None
    message_id: UUID | None = None


class Arguments(BaseModel):
    """Arguments of a tool. The fields are both its JSON schema and what is checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, sent: Any) -> Any:
        """Models send null for what they leave out."""
        return {name: value for name, value in sent.items() if value is not None} if isinstance(sent, dict) else sent


class OperationArguments(Arguments):
    """Arguments of a tool that does one of several things. Each operation needs some, may take others, and no more."""

    operation: str
    needs: ClassVar[Mapping[str, tuple[str, ...]]]
    may_take: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, sent: Any) -> Any:
        """Models send empty texts and lists for arguments of other operations."""
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
    """Something that a model may call: its name and description, its arguments, and what it does.

    ``run`` does the work through the actions of the rooms and raises what they raise. ``replay`` answers a request
    that was repeated under its Idempotency-Key from what the first one did. ``offered`` says whether a principal has
    the tool at all. ``advice`` says by the code of a refusal what a model can do about it: a text in which ``{named}``
    stands for the memory that is in the way and ``{id}`` for its id. One that ``reads_only`` needs no scope to write.
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
        """The arguments that a model sent, as an object or as the JSON text of one. Raises ValidationError."""
        if isinstance(sent, str):
            return self.arguments.model_validate_json(sent or "{}")
        return self.arguments.model_validate(sent)

    def explain(self, error: ValidationError) -> ToolAnswer:
        """Say of each argument what is wrong with it, without repeating what was sent."""
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
    """The JSON schema of a tool's arguments, in the common part of what model providers take.

    An argument that files something is narrowed to ``categories``.
    """
    schema: dict[str, Any] = tool.arguments.model_json_schema()
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
