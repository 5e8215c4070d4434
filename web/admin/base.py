"""Rows that staff read and nobody edits: lists that stay cheap on big tables, buttons that call actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar
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
from unfold.views import ChangeList

from journal.exceptions import Refused

Row = TypeVar("Row", bound=Model)

COUNTED_ROWS = 5_000


class BoundedPaginator(Paginator):
    """Pages over the first ``COUNTED_ROWS`` rows: counting stops there, so a big table costs no more than that.

    Whoever looks for something further on narrows the list by a filter or a search.
    """

    template_name = "admin/bounded_pagination.html"

    @cached_property
    def count(self) -> int:
        """How many rows there are, at most ``COUNTED_ROWS``."""
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
        # The page's header would offer "all" beside a number that was never counted.
        self.full_result_count = self.result_count
        self.model_admin.name_rows(list(self.result_list))


class _Titled:
    """A row under its title, as the theme's heading shows it."""

    def __init__(self, row: Model, title: str) -> None:
        self._row, self._title = row, title

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)

    def __str__(self) -> str:
        return self._title


class RecordAdmin(ModelAdmin):
    """Rows that staff read. Nobody edits them here, superusers included: buttons call the rooms' actions instead.

    Whoever may enter the admin may read; there are no per-model permissions to hand out. ``id_fields`` are the columns
    that an id in the search box is compared with; without them ``search_fields`` works as everywhere in Django.
    """

    show_full_result_count = False
    paginator: type[Paginator[Any]] = BoundedPaginator
    list_per_page = 25
    list_max_show_all = 0
    list_disable_select_all = True
    list_filter_sheet = True
    id_fields: tuple[str, ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Staff see every room."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff see every row."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are made by actions."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are changed by actions."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are removed by actions."""
        return False

    def name_rows(self, rows: Sequence[Any]) -> None:
        """Give the rows of a list's page what their columns call others by, in a few statements for all of them."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list whose header counts nothing."""
        return _BoundedChangeList

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row of an address: None also for an id that the database would choke on."""
        return None if "\x00" in object_id else super().get_object(request, object_id, from_field)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only what the filters beside a list put into its address, the same words and nothing more.

        Django lets any column of the row be compared with anything, which would let staff guess a private text letter
        by letter without opening it.
        """
        return any(lookup in self._parameters(each, request) for each in self.get_list_filter(request))

    def _parameters(self, list_filter: Any, request: HttpRequest) -> list[str | None]:
        """The names that a filter reads from a list's address."""
        if isinstance(list_filter, type) and issubclass(list_filter, SimpleListFilter):
            return [list_filter.parameter_name]
        path, made = (list_filter, FieldListFilter.create) if isinstance(list_filter, str) else list_filter
        field = get_fields_from_path(self.model, path)[-1]
        return made(field, request, {}, self.model, self, field_path=path).expected_parameters()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows with that id in one of ``id_fields``; whatever is no id, finds what ``name_filter`` says."""
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
        """Which rows a text that is no id finds: none, unless a room says otherwise."""
        return Q(pk__in=[])

    def title_of(self, row: Any) -> str:
        """What a row is called on its page: what it is and, where a room says so, whose. Never what it holds."""
        return capfirst(str(row._meta.verbose_name))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The page of a row, headed by its title."""
        answer = super().render_change_form(request, context, *args, **kwargs)
        row = answer.context_data.get("original")
        if isinstance(row, Model):
            title = self.title_of(row)
            answer.context_data |= {"original": _Titled(row, title), "subtitle": title}
        return answer

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns; an id that is long shows its beginning, which the link and a search have in full."""
        return ["handle" if name == "id" else name for name in super().get_list_display(request)]

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> list[Any] | tuple[Any, ...]:
        """The column that leads to the row."""
        links = super().get_list_display_links(request, list_display)
        return ["handle" if name == "id" else name for name in links or []]

    @admin.display(description="id", ordering="pk")
    def handle(self, row: Any) -> str:
        """The beginning of a row's id."""
        return short(row.pk)

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """The row of a button's address. Raises Http404."""
        row: Any = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def run_action(self, request: HttpRequest, change: Callable[[], Any], done: str) -> HttpResponse:
        """Call an action, say on the page how it ended, and load the page again with the row as it is by then."""
        try:
            change()
        except Refused as refusal:
            return self.refuse(request, refusal)
        self.message_user(request, done, messages.SUCCESS)
        return self.refresh()

    def refuse(self, request: HttpRequest, refusal: Refused) -> HttpResponse:
        """Say on the page why an action did nothing."""
        self.message_user(request, refusal.detail, messages.ERROR)
        return self.refresh()

    def refresh(self) -> HttpResponse:
        """Have the page behind the dialog loaded again, with what there is to say."""
        return HttpResponseClientRefresh()

    def report(self, request: HttpRequest, done: int, total: int, what: str) -> None:
        """Say on the page how many of the selected rows a button did something to."""
        level = messages.SUCCESS if done == total else messages.WARNING
        self.message_user(request, f"{done} of {total} {what}.", level)


def is_staff(request: HttpRequest) -> bool:
    """Whether the signed-in person is a moderator."""
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


def as_uuid(text: object) -> UUID | None:
    """The UUID that a text spells, or None."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def filter_by_id(rows: QuerySet[Row], object_id: object) -> QuerySet[Row]:
    """The row of that id: none, if ids of such rows don't look like that."""
    if "\x00" in str(object_id):
        return rows.none()
    try:
        return rows.filter(pk=rows.model._meta.pk.to_python(object_id))
    except ValidationError:
        return rows.none()


def link_column(model: type[Model], path: str, description: str, *, name: str = "") -> Callable[[Any, Any], Any]:
    """A column of a list or page: a link to the row of a model whose id stands under ``path``, with its ``name``."""

    @admin.display(description=description)
    def column(self: Any, row: Any) -> Any:
        return link_to(model, attrgetter(path)(row), attrgetter(name)(row) if name else "")

    return column


def short(pk: object) -> str:
    """An id as lists show it: of a UUID its first eight characters."""
    return str(pk)[:8] if as_uuid(pk) else str(pk)


def link_to(model: type[Model], pk: object, text: object = "") -> SafeString | str:
    """A link to a row's page in the admin, named by a text or the beginning of its id; "-" for no row."""
    if pk is None:
        return "-"
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[pk])
    return format_html('<a class="text-link" href="{}">{}</a>', address, text or short(pk))
