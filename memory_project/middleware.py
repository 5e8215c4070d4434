"""What holds for every request: a limit on its size, and two lines in the log."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django_structlog.middlewares import RequestMiddleware

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


class RequestLog(RequestMiddleware):
    """Log that a request came and how it ended, without its query string: people search for what others told them."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """The method and the path."""
        return f"{request.method} {request.path}"
