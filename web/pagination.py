"""Pagination by page number or cursor. Unknown query parameters are a 400."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError as InvalidField
from django_filters import rest_framework as filters
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination, PageNumberPagination
from rest_framework.request import Request
from rest_framework.views import APIView

PER_PAGE = "per_page"


class _Strict:
    """Refuses unknown and invalid query parameters, shared by both kinds of pagination.

    Otherwise a misspelt filter would list everything, and a misspelt size would return another page than meant.
    """

    page_size: int
    max_page_size: int
    own: tuple[str, ...]

    def refuse_unknown(self, request: Request, view: APIView | None) -> None:
        """Raise ValidationError (400) for parameters of neither the pagination nor the list's filters."""
        filterset = getattr(view, "filterset_class", None)
        known = {*self.own, PER_PAGE, *(filterset.base_filters if filterset else ())}
        if unknown := sorted(request.query_params.keys() - known):
            raise ValidationError({name[:50]: ["There is no such parameter."] for name in unknown[:20]})

    def get_page_size(self, request: Request) -> int:
        """Return the page size. Raises ValidationError (400) unless it is from 1 to ``max_page_size``."""
        sent = request.query_params.get(PER_PAGE) or str(self.page_size)
        if not (sent.isascii() and sent.isdecimal() and len(sent) < 10 and 1 <= int(sent) <= self.max_page_size):
            raise ValidationError({PER_PAGE: [f"A whole number from 1 to {self.max_page_size}."]})
        return int(sent)

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """Return the parameters with their bounds and descriptions."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)  # type: ignore[misc]
        for parameter in parameters:
            if parameter["name"] == PER_PAGE:
                parameter["schema"] |= {"minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
                parameter["description"] = "How many there are on a page."
            elif parameter["name"] == "page":
                parameter["schema"] |= {"minimum": 1, "default": 1}
                parameter["description"] = "Which page. One beyond the last is a 404."
            else:
                parameter["description"] = "Where to read on: it stands in `next` and `previous`."
        return parameters

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page; all its properties are required."""
        made: dict[str, Any] = super().get_paginated_response_schema(schema)  # type: ignore[misc]
        shown = made["properties"]
        if "count" in shown:
            shown["count"] = {"type": "integer", "minimum": 0, "description": "How many there are on all pages."}
        for name in ("next", "previous"):
            description = f"The address of the {name} page, or null."
            shown[name] = {"type": ["string", "null"], "format": "uri", "description": description}
        return made | {"required": sorted(shown)}


class NumberedPages(_Strict, PageNumberPagination):
    """Pages of 20, or of ``per_page`` up to 100."""

    page_size = 20
    page_size_query_param = PER_PAGE
    max_page_size = 100
    last_page_strings = ()
    own: tuple[str, ...] = ("page",)

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        """Return one page. Raises ValidationError (400) for an invalid number, NotFound (404) beyond the last page."""
        self.refuse_unknown(request, view)
        page = request.query_params.get("page") or "1"
        if not (page.isascii() and page.isdecimal() and len(page) < 10 and int(page)):
            raise ValidationError({"page": ["A whole number from 1 on."]})
        return super().paginate_queryset(queryset, request, view)


class Cursor(_Strict, CursorPagination):
    """Lists by cursor, 50 rows at a time, or ``per_page`` up to 200."""

    page_size = 50
    page_size_query_param = PER_PAGE
    max_page_size = 200
    own = ("cursor",)

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        """Return the rows after the cursor. Raises ValidationError (400) for an invalid cursor."""
        self.refuse_unknown(request, view)
        try:
            return super().paginate_queryset(queryset, request, view)
        except NotFound as error:
            raise ValidationError({"cursor": ["This is no cursor."]}) from error


class ByRev(Cursor):
    """Changes, the latest first."""

    ordering = "-rev"


class ByTime(Cursor):
    """Append-only rows, the latest first."""

    ordering = ("-at", "-pk")


class _YesOrNo(forms.NullBooleanField):
    """Accepts true, false, 1 and 0, and refuses other values instead of ignoring them."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]  # the stubs know no third value
        """Parse the value. Raises ValidationError for anything else."""
        text = str(value).lower() if value is not None else ""
        if text in {"true", "1"}:
            return True
        if text in {"false", "0"}:
            return False
        if text:
            raise InvalidField("true or false.")
        return None

    def validate(self, value: Any) -> None:
        """Accept a missing value."""


class BooleanFilter(filters.BooleanFilter):
    """A filter by true or false, or not at all."""

    field_class = _YesOrNo

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, widget=forms.TextInput, **kwargs)


class FiltersByState(filters.FilterSet):
    """Filters of rows with a state. Without the parameter ``state`` it is ``usual``; ``all`` means every state."""

    usual: str

    def filter_queryset(self, queryset: Any) -> Any:
        """Apply the filters, with the default state if none is given."""
        self.form.cleaned_data["state"] = self.form.cleaned_data["state"] or self.usual
        return super().filter_queryset(queryset)

    def in_state(self, queryset: Any, _name: str, value: str) -> Any:
        """Filter rows by state, unless it is ``all``."""
        return queryset if value == "all" else queryset.filter(state=value)
