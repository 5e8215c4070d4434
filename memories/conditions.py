"""Filter conditions as JSON: fields with operators, combined by AND, OR and NOT, applied in the database.

A condition is an object: ``{"run_id": "r1", "created_at": {"gte": "2026-01-01"}, "OR": [{…}, {…}], "NOT": {…}}``. All
entries of an object must hold. A test is true or false, never unknown: a missing value is unequal to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal
from uuid import UUID

from django.db.models import BooleanField, Expression, ExpressionWrapper, F, Func, JSONField, Q, TextField, Value
from django.db.models.functions import Cast, Coalesce
from django.utils.dateparse import parse_date, parse_datetime

from accounts.principals import Principal
from journal.exceptions import Refused

from .policy import writing
from .querysets import BY_AGENT

DEEPEST = 8
"""Objects inside objects, joined ones and those of metadata alike."""

MOST_TESTS = 50
MOST_VALUES = 100
LONGEST_VALUE = 500
ANYTHING = "*"

Kind = Literal["text", "id", "number", "flag", "moment", "names", "data"]

_EQUAL = frozenset({"eq", "ne"})
_AMONG = _EQUAL | {"in", "nin"}
_ORDERED = _AMONG | {"gt", "gte", "lt", "lte"}
_WORDED = _ORDERED | {"contains", "icontains"}
OPERATORS: Mapping[Kind, frozenset[str]] = {
    "text": _WORDED,
    "id": _AMONG,
    "number": _ORDERED,
    "flag": _EQUAL,
    "moment": _ORDERED,
    "names": _AMONG | {"contains"},
    "data": _WORDED,
}
"""What each kind of field can be tested by. ``names`` is a list: it is equal to each name in it."""

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}
Scalar = str | int | float | bool | datetime | UUID


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one field, or of one ``key`` of a JSON field.

    Operators: those of ``OPERATORS``, and ``has`` (has a value). ``nin`` and ``ne`` are expressed by ``Joined``.
    ``value`` is a tuple for ``in``.
    """

    field: str
    operator: str
    value: Scalar | tuple[Scalar, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions combined by AND, OR, or NOT (none may hold)."""

    how: Literal["AND", "OR", "NOT"]
    parts: tuple[Condition, ...]


Condition = Test | Joined


def read_condition(
    sent: Any, fields: Mapping[str, Kind], canonical: Mapping[str, Callable[[str], str]] | None = None
) -> Condition:
    """Parse a condition over these fields; ``canonical`` converts a field's text to its stored form.

    Raises Refused (400 ``bad_filter``) for an unknown field, operator or value, for more than ``MOST_TESTS`` tests or
    ``DEEPEST`` levels, and what ``canonical`` raises.
    """
    return _ConditionParser(fields, canonical or {}).read(sent, 1)


def as_q(condition: Condition, kinds: Mapping[str, Kind], columns: Mapping[str, tuple[str, ...]]) -> Q:
    """Convert a condition to a Q, with the columns of each field. Any one of several columns may match."""
    if isinstance(condition, Test):
        told = [_test(condition, kinds[condition.field], column) for column in columns[condition.field]]
        return Q(*told, _connector=Q.OR)
    parts = [as_q(part, kinds, columns) for part in condition.parts]
    if condition.how == "AND":
        return Q(*parts)
    any_of = Q(*parts, _connector=Q.OR)
    return ~any_of if condition.how == "NOT" else any_of


# --- Reading ------------------------------------------------------------------------------------------------------


def _refused(detail: str) -> Refused:
    return Refused(detail, code="bad_filter")


@dataclass
class _ConditionParser:
    """State of parsing a condition; ``tests`` counts the parsed tests."""

    fields: Mapping[str, Kind]
    canonical: Mapping[str, Callable[[str], str]]
    tests: int = 0

    def read(self, sent: Any, depth: int) -> Condition:
        """Parse an object of conditions joined by AND."""
        if not isinstance(sent, dict) or not sent:
            raise _refused("A filter is an object with at least one field, AND, OR or NOT.")
        if depth > DEEPEST:
            raise _refused(f"Filters are nested at most {DEEPEST} deep.")
        return _all([part for name, value in sent.items() for part in self.part(name, value, depth)])

    def part(self, name: str, value: Any, depth: int) -> Iterator[Condition]:
        """Parse one entry of an object."""
        if name in {"AND", "OR", "NOT"}:
            several = value if isinstance(value, list) else [value] if name == "NOT" else []
            if not 1 <= len(several) <= MOST_TESTS:
                raise _refused(f"{name} takes a list of 1 to {MOST_TESTS} filters.")
            yield Joined(name, tuple(self.read(each, depth + 1) for each in several))  # type: ignore[arg-type]
        elif name not in self.fields:
            raise _refused(f"There is no field {str(name)[:50]!r} to filter by. There are {', '.join(self.fields)}.")
        elif self.fields[name] == "data" and value != ANYTHING:
            if not isinstance(value, dict) or not value:
                raise _refused(f"{name} takes an object of keys and what each has to be.")
            for key, wanted in value.items():
                if not 0 < len(key) <= LONGEST_VALUE or "\0" in key:
                    raise _refused(f"A key of {name} has 1 to {LONGEST_VALUE} characters.")
                yield from self.wanted(name, wanted, key)
        else:
            yield from self.wanted(name, value, None)

    def wanted(self, name: str, value: Any, key: str | None) -> Iterator[Condition]:
        """Parse the condition on a field or key: a value, a list, or an object of operators."""
        if isinstance(value, list):
            value = {"in": value}
        elif not isinstance(value, dict):
            value = {"eq": value}
        if not value:
            raise _refused(f"{name} has an empty object in the place of an operator.")
        for operator, operand in value.items():
            self.tests += 1
            if self.tests > MOST_TESTS:
                raise _refused(f"A filter has at most {MOST_TESTS} tests.")
            yield self.one(name, operator, operand, key)

    def one(self, name: str, operator: str, operand: Any, key: str | None) -> Condition:
        """Create one test."""
        kind = self.fields[name]
        if operator not in OPERATORS[kind]:
            known = ", ".join(sorted(OPERATORS[kind]))
            raise _refused(f"{name} has no operator {str(operator)[:50]!r}. There are {known}.")
        if operator in _EQUAL and (operand is None or operand == ANYTHING):
            has = Test(name, "has", True, key)
            return has if (operand is None) == (operator == "ne") else Joined("NOT", (has,))
        if operator in {"in", "nin"}:
            if not isinstance(operand, list) or not 1 <= len(operand) <= MOST_VALUES:
                raise _refused(f"{operator} of {name} takes a list of 1 to {MOST_VALUES} values.")
            among = Test(name, "in", tuple(self.value(name, each) for each in operand), key)
            return among if operator == "in" else Joined("NOT", (among,))
        value = self.value(name, operand)
        if kind == "data" and operator not in _EQUAL | {"contains"} and isinstance(value, bool):
            raise _refused(f"{operator} takes a number or a text, not true or false.")
        if operator == "icontains" and not isinstance(value, str):
            raise _refused("icontains takes a text.")
        if operator == "ne":
            return Joined("NOT", (Test(name, "eq", value, key),))
        return Test(name, operator, value, key)

    def value(self, name: str, sent: Any) -> Scalar:
        """Convert a value for comparison. Raises Refused."""
        kind = self.fields[name]
        try:
            value = _READ[kind](sent)
        except (TypeError, ValueError) as error:
            raise _refused(f"{str(sent)[:50]!r} is no {_CALLED[kind]}, which {name} is compared with.") from error
        if isinstance(value, str):
            if len(value) > LONGEST_VALUE or "\0" in value:
                raise _refused(f"A text to filter by has at most {LONGEST_VALUE} characters, and no NUL.")
            return self.canonical[name](value) if name in self.canonical else value
        return value


def _all(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Joined("AND", tuple(parts))


def _text(sent: Any) -> str:
    if not isinstance(sent, str):
        raise TypeError
    return sent


def _number(sent: Any) -> int | float:
    if isinstance(sent, bool) or not isinstance(sent, int | float):
        raise TypeError
    return sent


def _flag(sent: Any) -> bool:
    if not isinstance(sent, bool):
        raise TypeError
    return sent


def _moment(sent: Any) -> datetime:
    """Parse a date (its start) or a time; UTC without a zone."""
    moment = parse_datetime(_text(sent))
    if moment is None:
        day: date | None = parse_date(sent)
        if day is None:
            raise ValueError
        moment = datetime.combine(day, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _data(sent: Any) -> Scalar:
    if not isinstance(sent, str | int | float):
        raise TypeError
    return sent


_READ: Mapping[Kind, Callable[[Any], Scalar]] = {
    "text": _text,
    "id": lambda sent: UUID(_text(sent)),
    "number": _number,
    "flag": _flag,
    "moment": _moment,
    "names": _text,
    "data": _data,
}
_CALLED: Mapping[Kind, str] = {
    "text": "text",
    "id": "UUID",
    "number": "number",
    "flag": "true or false",
    "moment": "date or time (ISO 8601)",
    "names": "text",
    "data": "text, number, true or false",
}


# --- Of memories --------------------------------------------------------------------------------------------------

_TEXTS = ("run_id", "actor_id", "role", "external_id", "content", "subject", "category", "kind", "field")
_MOMENTS = ("created_at", "updated_at", "said_at", "valid_from", "valid_to", "expires_at", "reviewed_at")
FIELDS: Mapping[str, Kind] = {
    "id": "text",
    "agent_id": "id",
    **dict.fromkeys(_TEXTS, "text"),
    "topics": "names",
    "importance": "number",
    "pinned": "flag",
    **dict.fromkeys(_MOMENTS, "moment"),
    "metadata": "data",
}
"""What memories are filtered by."""

_OWN = frozenset({"content", "subject", "kind", "field", "topics", "metadata", "said_at", "valid_from", "valid_to"})
"""What a version keeps as it was then."""


def memory_condition(principal: Principal, sent: Any) -> Condition:
    """Parse a condition on memories; categories may be aliases.

    Raises Refused (400 ``bad_filter``, ``unknown_category``), NotAllowed (403 ``category_not_allowed``).
    """
    return read_condition(sent, FIELDS, {"category": lambda name: writing.must_file_under(principal, name)})


def q_of(condition: Condition, *, versions: bool = False) -> Q:
    """Convert a condition to a Q on memories, or on their versions."""
    columns: dict[str, tuple[str, ...]] = {name: (name,) for name in FIELDS} | {"agent_id": BY_AGENT}
    if versions:
        columns = {
            name: each if name in _OWN else tuple(f"memory__{column}" for column in each)
            for name, each in columns.items()
        } | {"updated_at": ("recorded_from",)}
    return as_q(condition, FIELDS, columns)


# --- In the database ----------------------------------------------------------------------------------------------


def _test(test: Test, kind: Kind, column: str) -> Q:
    if test.key is not None:
        return _of_key(test, column)
    if test.operator == "has":
        empty = {"text": "", "names": [], "data": {}}
        return ~Q(**{column: empty[kind]}) if kind in empty else Q(**{f"{column}__isnull": False})
    if kind == "names":
        wanted = test.value if isinstance(test.value, tuple) else (test.value,)
        return Q(**{f"{column}__overlap": list(wanted)})
    lookup = column if test.operator == "eq" else f"{column}__{test.operator}"
    return _decided(Q(**{lookup: test.value}))


def _decided(q: Q) -> Q:
    """Make a Q false where SQL would be NULL, so that its negation is true."""
    return Q(Coalesce(ExpressionWrapper(q, output_field=BooleanField()), Value(False)))


def _of_key(test: Test, column: str) -> Q:
    """Test one key of a JSON object. Numbers compare with numbers, texts with texts; else false."""
    held = _between("->", F(column), Cast(Value(test.key), TextField()), JSONField())
    if test.operator == "has":
        return _decided(Q(_is_a(held, "null", sign="<>")))
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        return Q(*(_decided(Q(_between("=", held, _json(each)))) for each in test.value), _connector=Q.OR)
    of = "string" if isinstance(test.value, str) else "number"
    if test.operator in {"contains", "icontains"}:
        return _holds(test, held)
    compared = Q(_between(_SIGNS[test.operator], held, _json(test.value)))
    return _decided(compared if test.operator == "eq" else compared & Q(_is_a(held, of)))


def _holds(test: Test, held: Expression) -> Q:
    """Test whether a text contains another, or a list a value."""
    found = Q()
    if isinstance(test.value, str):
        text: Expression = Func(held, Value("{}"), template="(%(expressions)s)", arg_joiner=" #>> ",
                                output_field=TextField())  # fmt: skip
        sought: Expression = Cast(Value(test.value), TextField())
        if test.operator == "icontains":
            text, sought = (Func(each, function="upper", output_field=TextField()) for each in (text, sought))
        inside = Func(text, sought, function="strpos", template="(%(function)s(%(expressions)s) > 0)",
                      output_field=BooleanField())  # fmt: skip
        found = _decided(Q(inside) & Q(_is_a(held, "string")))
    if test.operator == "contains":
        listed = Q(_between("@>", held, _json([test.value]))) & Q(_is_a(held, "array"))
        found |= _decided(listed)
    return found


def _json(value: Any) -> Value:
    return Value(value, output_field=JSONField())


def _is_a(held: Expression, kind: str, *, sign: str = "=") -> Expression:
    return Func(
        held,
        Value(kind),
        function="jsonb_typeof",
        template="(%(function)s(%(expressions)s)",
        arg_joiner=f") {sign} ",
        output_field=BooleanField(),
    )


def _between(sign: str, left: Any, right: Any, output_field: Any = None) -> Expression:
    return Func(left, right, template="(%(expressions)s)", arg_joiner=f" {sign} ",
                output_field=output_field or BooleanField())  # fmt: skip
