"""What holds for every request: a limit on its size, who may keep its answer, and a line in the log."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from http import HTTPStatus

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import has_vary_header, patch_cache_control
from django_structlog.middlewares import RequestMiddleware

from .errors import too_large
from .pulse import note_request

Handler = Callable[[HttpRequest], HttpResponse]
_CODE = re.compile(r"(?<=/invitations/)[^/]{20,}|(?<=/new-password/)[^/]+/[^/]{20,}")


def takes_uploads(view: Callable[..., object]) -> bool:
    """Whether a view takes files, which may be larger than other bodies."""
    return getattr(getattr(view, "cls", view), "takes_uploads", False)


class BodyLimit:
    """Refuse bodies over ``MAX_BODY_BYTES`` before anything reads them.

    Django's own limit covers forms only: a JSON parser reads the stream itself. What comes in chunks is counted where
    it is read (serving.py). A view that takes uploads gets what an import may have, unless it is a
    page and nobody is signed in.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; what is too large is known once its view is."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        """Answer 413, or let the view run."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = settings.MAX_BODY_BYTES
        if takes_uploads(view):
            # A key is checked before the body is read; a page's form token stands in the body.
            is_known = request.path_info.startswith("/api/") or request.user.is_authenticated
            most = settings.IMPORT_MAX_BYTES + settings.MAX_BODY_BYTES if is_known else most
        return too_large(request, most) if not length.isdigit() or int(length) > most else None


class PrivateAnswers:
    """Tell whatever stands between to keep no answer that depends on who asks, unless its view says how long."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Mark the answer."""
        response = self.get_response(request)
        if not response.has_header("Cache-Control") and (
            request.headers.get("Authorization") or has_vary_header(response, "Cookie")
        ):
            patch_cache_control(response, private=True, no_cache=True)
        return response


class RequestLog(RequestMiddleware):
    """Log how each request ended, without its query string: people search for what others told them.

    Nothing is logged of what programs ask every few seconds and are answered well. Static files don't come so far.
    """

    _POLLED = {"live", "ready", "import-page", "tidy-plan", "job", "changes", "metrics"}

    def prepare(self, request: HttpRequest) -> None:
        """Begin to measure."""
        request.META["keepsake.began_at"] = time.perf_counter()
        super().prepare(request)

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        """Log the line, unless the request was one of many."""
        match = request.resolver_match
        is_polled = request.method in {"GET", "HEAD"} and match is not None and match.view_name in self._POLLED
        if is_polled and response.status_code < HTTPStatus.BAD_REQUEST:
            structlog.contextvars.clear_contextvars()
            return
        seconds = time.perf_counter() - request.META["keepsake.began_at"]
        note_request(seconds, response.status_code)
        structlog.contextvars.bind_contextvars(ms=round(1000 * seconds))
        super().handle_response(request, response)

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """The method and the path, without codes of invitations and of links in mails, which let in who has them."""
        return f"{request.method} {_CODE.sub('[code]', request.path)}"
