"""Which language a page speaks: the person's own where there is a catalogue for it, else what their browser asks for.

What programs read stays English whatever they ask for: under their addresses nothing is ever activated.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

PROGRAMS = ("/api/", "/admin/", "/interop/", "/mem0/", "/mcp", "/.well-known/", "/health/", "/metrics", "/favicon.ico")
"""How the addresses begin that are no pages of a person's. The staff's admin is English too."""


class PageLanguage:
    """Middleware: a page speaks the browser's language, until it is known whose page it is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer in that language, and leave it again."""
        if request.path_info.startswith(PROGRAMS):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            answer = self.get_response(request)
        patch_vary_headers(answer, ["Accept-Language"])
        return answer


def use_language(language: str) -> None:
    """Go on in a person's language; in the browser's where they chose none, or one without a catalogue."""
    try:
        translation.activate(translation.get_supported_language_variant(language))
    except LookupError:
        return
