"""The language of a page: the person's if there is a catalogue, else the browser's.

APIs are always English.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

PROGRAMS = ("/api/", "/admin/", "/interop/", "/mem0/", "/mcp", "/.well-known/", "/health/", "/metrics", "/favicon.ico")
"""How the addresses begin that are no pages of a person's. The staff's admin is English too."""


class PageLanguage:
    """Middleware: activates the browser's language, until the person is known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle a request in that language."""
        if request.path_info.startswith(PROGRAMS):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            answer = self.get_response(request)
        patch_vary_headers(answer, ["Accept-Language"])
        return answer


def use_language(language: str) -> None:
    """Activate a person's language; the browser's if they chose none, or one without a catalogue."""
    try:
        translation.activate(translation.get_supported_language_variant(language))
    except LookupError:
        return
