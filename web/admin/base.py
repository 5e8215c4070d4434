"""The base of read-only staff pages: lists that stay fast on big tables, and buttons that call actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin import FieldListFilter, SimpleListFilter
from django.contrib.admin.utils import get_fields_from_path, unquote
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django_htmx.http import HttpResponseClientRefresh
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.views import ChangeList

from journal.exceptions import Refused

Row = TypeVar("Row", bound=Model)

COUNTED_ROWS = 5_000


class BoundedPaginator(Paginator):
    """Paginates the first ``COUNTED_ROWS`` rows. Counting stops there, so that big tables stay fast.

    Later rows are found by a filter or a search.
    """

    template_name = "admin/bounded_pagination.html"

    @cached_property
    def count(self) -> int:
        """The number of rows, at most ``COUNTED_ROWS``."""
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED_ROWS].count())

    @property
    def more(self) -> bool:
        """Whether there may be more rows than are counted."""
        return self.count == COUNTED_ROWS


class _BoundedChangeList(ChangeList):
    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.title = capfirst(str(self.opts.verbose_name_plural))

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # Otherwise the header would offer "all" with a total that was never counted.
        self.full_result_count = self.result_count
        self.model_admin.name_rows(list(self.result_list))


class _Titled:
    """Wraps a row so that ``str()`` returns its title, which the theme's heading shows."""

    def __init__(self, row: Model, title: str) -> None:
        self._row, self._title = row, title

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)

    def __str__(self) -> str:
        return self._title


class RecordAdmin(ModelAdmin):
    """Read-only pages of a model for staff. Changes are made by buttons that call the rooms' actions.

    Every staff member may read every model; there are no per-model permissions. ``id_fields`` are the columns that an
    id in the search box is compared with; without them, ``search_fields`` works as usual in Django. ``deferred`` are
    columns with texts, which are not loaded; ``loaded`` are, if named, the only ones that are, also of joined rows.
    """

    show_full_result_count = False
    paginator: type[Paginator[Any]] = BoundedPaginator
    list_per_page = 25
    list_max_show_all = 0
    list_disable_select_all = True
    list_filter_sheet = True
    id_fields: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the user is staff."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user is staff."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False: actions add rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False: actions change rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False: actions delete rows."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return all rows without ``deferred`` columns, or with ``loaded`` ones only."""
        rows = super().get_queryset(request)
        if not self.loaded:
            return rows.defer(*self.deferred)
        joined = {path.rpartition("__")[0] for path in self.loaded if "__" in path}
        return rows.select_related(*joined).only(*self.loaded) if joined else rows.only(*self.loaded)

    def name_rows(self, rows: Sequence[Any]) -> None:
        """Load the names that the columns of a list's page show, in a fixed number of statements."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list class without a total count."""
        return _BoundedChangeList

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row of a URL; None as well for an id with a NUL, which URLs of staff can write as ``_00``."""
        return None if "\x00" in object_id else super().get_object(request, object_id, from_field)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the parameters of the list's filters.

        Django allows lookups on any column of the model, by which staff could guess a private text letter by letter
        without opening it.
        """
        return any(lookup in self._parameters(each, request) for each in self.get_list_filter(request))

    def _parameters(self, list_filter: Any, request: HttpRequest) -> list[str | None]:
        """Return the query parameters of a filter."""
        if isinstance(list_filter, type) and issubclass(list_filter, SimpleListFilter):
            return [list_filter.parameter_name]
        path, made = (list_filter, FieldListFilter.create) if isinstance(list_filter, str) else list_filter
        field = get_fields_from_path(self.model, path)[-1]
        return made(field, request, {}, self.model, self, field_path=path).expected_parameters()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Filter rows by an id in one of ``id_fields``, or else by ``name_filter``."""
        if not self.id_fields:
            return super().get_search_results(request, queryset, search_term)
        term = search_term.strip()
        if not term:
            return queryset, False
        wanted = as_uuid(term)
        if wanted is None:
            return queryset.filter(self.name_filter(term)), False
        condition = Q()
        for name in self.id_fields:
            condition |= Q(**{name: wanted})
        return queryset.filter(condition), False

    def name_filter(self, term: str) -> Q:
        """Return the filter for a search term that is not an id. Finds nothing unless overridden."""
        return Q(pk__in=[])

    def title_of(self, row: Any) -> str:
        """Return the title of a row's page: its kind, in subclasses also its owner. Never its text."""
        return capfirst(str(row._meta.verbose_name))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Render the page of a row with its title as heading."""
        answer = super().render_change_form(request, context, *args, **kwargs)
        row = answer.context_data.get("original")
        if isinstance(row, Model):
            title = self.title_of(row)
            answer.context_data |= {"original": _Titled(row, title), "subtitle": title}
        return answer

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns, with ids shortened."""
        return ["handle" if name == "id" else name for name in super().get_list_display(request)]

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> list[Any] | tuple[Any, ...]:
        """Return the columns that link to the row."""
        links = super().get_list_display_links(request, list_display)
        return ["handle" if name == "id" else name for name in links or []]

    @admin.display(description="id", ordering="pk")
    def handle(self, row: Any) -> str:
        """Return the shortened id."""
        return short(row.pk)

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """Return the row of a button's URL. Raises Http404."""
        row: Any = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def run_action(self, request: HttpRequest, change: Callable[[], Any], done: str) -> HttpResponse:
        """Call an action, show a message with its outcome, and reload the page."""
        try:
            change()
        except Refused as refusal:
            return self.refuse(request, refusal)
        self.message_user(request, done, messages.SUCCESS)
        return self.refresh()

    def refuse(self, request: HttpRequest, refusal: Refused) -> HttpResponse:
        """Show why an action was refused, and reload the page."""
        self.message_user(request, refusal.detail, messages.ERROR)
        return self.refresh()

    def refresh(self) -> HttpResponse:
        """Reload the page behind the dialog, which shows the messages."""
        return HttpResponseClientRefresh()

    def report(self, request: HttpRequest, done: int, total: int, what: str) -> None:
        """Show a message with how many of the selected rows an action changed."""
        level = messages.SUCCESS if done == total else messages.WARNING
        self.message_user(request, f"{done} of {total} {what}.", level)


def is_staff(request: HttpRequest) -> bool:
    """Whether the signed-in person is a moderator."""
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


def as_uuid(text: object) -> UUID | None:
    """Parse a UUID. Returns None for any other text."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def filter_by_id(rows: QuerySet[Row], object_id: object) -> QuerySet[Row]:
    """Filter rows by an id; none if it is not a valid id of the model."""
    try:
        return rows.filter(pk=rows.model._meta.pk.to_python(object_id))
    except ValidationError:
        return rows.none()


def link_column(model: type[Model], path: str, description: str, *, name: str = "") -> Callable[[Any, Any], Any]:
    """Create a column with a link to the row of ``model`` whose id is the attribute ``path``, labelled by ``name``."""

    @admin.display(description=description)
    def column(self: Any, row: Any) -> Any:
        return link_to(model, attrgetter(path)(row), attrgetter(name)(row) if name else "")

    return column


def label_column(field: str, colours: Mapping[str, str]) -> Callable[[Any, Any], tuple[str, str]]:
    """Create a column with the label of a choice, in the colour of its value."""

    @display(description=field, ordering=field, label=colours)
    def column(self: Any, row: Any) -> tuple[str, str]:
        return getattr(row, field), getattr(row, f"get_{field}_display")()

    return cast("Callable[[Any, Any], tuple[str, str]]", column)


def short(pk: object) -> str:
    """Shorten an id for lists: a UUID to its first eight characters."""
    return str(pk)[:8] if as_uuid(pk) else str(pk)


def link_to(model: type[Model], pk: object, text: object = "") -> SafeString | str:
    """Return a link to a row's page in the admin, labelled by a text or the shortened id; "-" if ``pk`` is None."""
    if pk is None:
        return "-"
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[pk])
    return format_html('<a class="text-link" href="{}">{}</a>', address, text or short(pk))
