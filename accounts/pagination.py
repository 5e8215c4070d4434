"""Lists: ``{count, next, previous, results}`` with ``page`` and ``per_page``, or by cursor."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination, PageNumberPagination


class Pages(PageNumberPagination):
    """Pages of 20, or of ``per_page`` up to 100."""

    page_size = 20
    page_size_query_param = "per_page"
    max_page_size = 100


class ByRev(CursorPagination):
    """Changes are read by cursor, in the order in which they happened: 50 at a time, or ``per_page`` up to 200."""

    ordering = "rev"
    page_size = 50
    page_size_query_param = "per_page"
    max_page_size = 200


class ByTime(CursorPagination):
    """What only grows at its newer end is read by cursor, the latest first: 50 at a time, or ``per_page`` up to 200."""

    ordering = ("-at", "-pk")
    page_size = 50
    page_size_query_param = "per_page"
    max_page_size = 200
