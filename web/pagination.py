"""Lists: ``{count, next, previous, results}`` with ``page`` and ``per_page``, or by cursor. Other parameters: a 400."""

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
    """What pages and cursors have in common: a parameter that can't be meant is refused by its name.

    A misspelt filter would list everything, a misspelt size another page than the caller reads on from.
    """

    page_size: int
    max_page_size: int
    own: tuple[str, ...]

    def refuse_unknown(self, request: Request, view: APIView | None) -> None:
        """Raise ValidationError for parameters that neither the pages nor the list's filters know."""
        filterset = getattr(view, "filterset_class", None)
        known = {*self.own, PER_PAGE, *(filterset.base_filters if filterset else ())}
        if unknown := sorted(request.query_params.keys() - known):
            raise ValidationError({name[:50]: ["There is no such parameter."] for name in unknown[:20]})

    def get_page_size(self, request: Request) -> int:
        """How many rows are wanted. Raises ValidationError for anything that is no number, or none that is served."""
        sent = request.query_params.get(PER_PAGE) or str(self.page_size)
        if not (sent.isascii() and sent.isdecimal() and len(sent) < 10 and 1 <= int(sent) <= self.max_page_size):
            raise ValidationError({PER_PAGE: [f"A whole number from 1 to {self.max_page_size}."]})
        return int(sent)

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """The parameters, with their bounds."""
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
        """The form of a page: all of it is always there."""
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
        """One page. Raises ValidationError for what is no number of a page, NotFound for one beyond the last."""
        self.refuse_unknown(request, view)
        page = request.query_params.get("page") or "1"
        if not (page.isascii() and page.isdecimal() and len(page) < 10 and int(page)):
            raise ValidationError({"page": ["A whole number from 1 on."]})
        return super().paginate_queryset(queryset, request, view)


class Cursor(_Strict, CursorPagination):
    """What is read by cursor, 50 rows at a time, or ``per_page`` up to 200."""

    page_size = 50
    page_size_query_param = PER_PAGE
    max_page_size = 200
    own = ("cursor",)

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        """Rows from the cursor on. Raises ValidationError for a cursor that this server did not make."""
        self.refuse_unknown(request, view)
        try:
            return super().paginate_queryset(queryset, request, view)
        except NotFound as error:
            raise ValidationError({"cursor": ["This is no cursor."]}) from error


class ByRev(Cursor):
    """Changes, the latest first."""

    ordering = "-rev"


class ByTime(Cursor):
    """What only grows at its newer end, the latest first."""

    ordering = ("-at", "-pk")


class _YesOrNo(forms.NullBooleanField):
    """True or false, and not anything else taken for neither."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]  # the stubs know no third value
        """Read what was sent. Raises ValidationError for what is neither."""
        text = str(value).lower() if value is not None else ""
        if text in {"true", "1"}:
            return True
        if text in {"false", "0"}:
            return False
        if text:
            raise InvalidField("true or false.")
        return None

    def validate(self, value: Any) -> None:
        """It may be left out."""


class BooleanFilter(filters.BooleanFilter):
    """A filter that is on, off or left out."""

    field_class = _YesOrNo

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, widget=forms.TextInput, **kwargs)


class FiltersByState(filters.FilterSet):
    """Filters of rows that have a state: those in the ``usual`` one unless another, or ``all``, is named."""

    usual: str

    def filter_queryset(self, queryset: Any) -> Any:
        """Apply the filters, and the state that is meant when none is named."""
        self.form.cleaned_data["state"] = self.form.cleaned_data["state"] or self.usual
        return super().filter_queryset(queryset)

    def in_state(self, queryset: Any, _name: str, value: str) -> Any:
        """Rows in one state, or in any."""
        return queryset if value == "all" else queryset.filter(state=value)
