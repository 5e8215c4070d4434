"""Lists: ``{count, next, previous, results}`` with ``page`` and ``per_page``."""

from __future__ import annotations

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pages of 20, or of ``per_page`` up to 100."""

    page_size = 20
    page_size_query_param = "per_page"
    max_page_size = 100
