"""Limits that hold for every request."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

Handler = Callable[[HttpRequest], HttpResponse]


class BodyLimit:
    """Refuse bodies over ``MAX_BODY_BYTES`` before anything reads them.

    Django's own limit covers forms only: a JSON parser reads the stream itself. A body without a Content-Length
    reads as empty under WSGI, so the header is all there is to check.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 413 or pass the request on."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > settings.MAX_BODY_BYTES:
            limit = settings.MAX_BODY_BYTES // 1_048_576
            return JsonResponse({"detail": f"The body is larger than {limit} MB.", "code": "too_large"}, status=413)
        return self.get_response(request)
