"""Tools of the extraction model, and parsing of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from language.base import ToolSpec, arguments_schema
from memories.models import Memory

ADD, UPDATE, DELETE, DOUBT = "add_to_memory", "update_memory", "delete_memory", "doubt_memory"


def _bare_id(sent: Any) -> Any:
    """Strip the decoration of a memory block from an id."""
    return (
        sent.strip().removeprefix("[").removesuffix("]").removeprefix("id:").strip() if isinstance(sent, str) else sent
    )


MemoryId = Annotated[str, BeforeValidator(_bare_id), Field(description="The id of a memory that was shown.")]


class _Arguments(BaseModel):
    """Arguments of a tool. Unknown ones are ignored; null means omitted."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, sent: Any) -> Any:
        return {name: value for name, value in sent.items() if value is not None} if isinstance(sent, dict) else sent


class Evidence(_Arguments):
    """A quote as evidence, and its message."""

    index: int = Field(description="The index of the user message that says it.")
    quote: str = Field(description="The words of that message that say it, copied letter by letter.")


class Addition(_Arguments):
    content: str = Field(description="One statement in the third person that can be understood by itself.")
    category: str = Field(description="What kind of statement it is.")
    subject: str = Field("", description="Whom or what it is about, if not the user: a name.")
    field: str = Field(
        "",
        description="Only when it states exactly this about the user as it is now.",
        json_schema_extra={"enum": ["", *Memory.Field.values]},
    )
    importance: int = Field(2, description="From 1, a detail, to 5, never to be forgotten.")
    explicit: bool = Field(False, description="True only when the user asked in so many words to remember it.")
    insist: bool = Field(False, description="True only after a result that named a memory which says something else.")
    evidence: Evidence


class Change(_Arguments):
    memory_id: MemoryId
    content: str = Field(description="The whole statement as it holds now.")
    correction: bool = Field(False, description="True when the old wording was wrong from the start.")
    explicit: bool = Field(False, description="True only when the user asked in so many words to remember it.")
    evidence: Evidence


class Removal(_Arguments):
    memory_id: MemoryId
    explicit: bool = Field(False, description="True only when the user asked in so many words to forget it.")
    evidence: Evidence


class Doubting(_Arguments):
    memory_id: MemoryId
    evidence: Evidence


_TOOLS: dict[str, tuple[type[Addition | Change | Removal | Doubting], str]] = {
    ADD: (Addition, "Remember something new and lasting that the user said."),
    UPDATE: (Change, "Give a memory another wording, because the user said something newer, fuller or different."),
    DELETE: (Removal, "Put a memory away, because the user asked to forget it or said that it holds no longer."),
    DOUBT: (
        Doubting,
        "Ask the user whether a memory still holds, because what they said does not fit it any more, but does not tell "
        "how it is now.",
    ),
}


def specs(categories: list[str]) -> tuple[ToolSpec, ...]:
    """Return the tool definitions for the model."""
    return tuple(
        ToolSpec(name, description, _schema(arguments, categories)) for name, (arguments, description) in _TOOLS.items()
    )


def read(name: str, sent: Mapping[str, object]) -> Addition | Change | Removal | Doubting:
    """Parse the arguments of a call. Raises ValueError with a message for the model."""
    if name not in _TOOLS:
        msg = f"There is no tool of that name; there are {', '.join(_TOOLS)}."
        raise ValueError(msg)
    try:
        return _TOOLS[name][0].model_validate(sent)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        raise ValueError("; ".join(faults)) from error


def _schema(arguments: type[BaseModel], categories: list[str]) -> dict[str, object]:
    """Return the JSON schema of a tool's arguments, in the subset that models support."""
    made = arguments_schema(arguments)
    properties = {name: _described(each) for name, each in made["properties"].items()}
    properties["evidence"] = {
        "type": "object",
        "properties": {name: _described(each) for name, each in made["$defs"]["Evidence"]["properties"].items()},
        "required": ["index", "quote"],
        "additionalProperties": False,
    }
    if "category" in properties:
        properties["category"]["enum"] = categories
    return {
        "type": "object",
        "properties": properties,
        "required": made["required"],
        "additionalProperties": False,
    }


def _described(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key in {"type", "description", "enum"}}
