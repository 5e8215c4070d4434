"""Middleware of every request: body size limit, texts that can't be stored, cache headers, request log."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from itertools import chain
from uuid import UUID

import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import has_vary_header, patch_cache_control
from django_structlog.middlewares import RequestMiddleware

from desk.translation import PROGRAMS
from web.throttling import address_of

from .errors import for_forms_only, too_large, unstorable
from .pulse import note_request

Handler = Callable[[HttpRequest], HttpResponse]


def takes_uploads(view: Callable[..., object]) -> bool:
    """Whether a view takes files, which may be larger than other bodies."""
    return getattr(getattr(view, "cls", view), "takes_uploads", False)


class BeforeViews:
    """Middleware that refuses requests in ``process_view``, where the view is known."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)


class FormAddresses:
    """Answers with a page, where a person opens an address that takes forms only: Django's own answer is empty."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle a request."""
        answer = self.get_response(request)
        is_opened = request.method == "GET" and not request.path_info.startswith(PROGRAMS)
        return for_forms_only(request) if is_opened and answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED else answer


class BodyLimit(BeforeViews):
    """Reject bodies over ``MAX_BODY_BYTES`` with 413 before anything reads them. The limit depends on the view.

    Django's own limit covers forms only: a JSON parser reads the stream itself. Chunked bodies are counted where they
    are read (serving.py). A view with uploads accepts the size of an import, except a page without a signed-in user.
    """

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        """Return 413, or None to run the view."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = settings.MAX_BODY_BYTES
        if takes_uploads(view):
            # The API checks the key before it reads the body; a page's CSRF token is in the body.
            is_known = request.path_info.startswith("/api/") or request.user.is_authenticated
            most = settings.IMPORT_MAX_BYTES + settings.MAX_BODY_BYTES if is_known else most
        return too_large(request, most) if not length.isdigit() or int(length) > most else None


class StorableTexts(BeforeViews):
    """Answer 400 where an address, its parameters or a form hold a NUL, which PostgreSQL refuses with an error.

    Bodies of the API are checked by their serializers, which name the field. Runs once ``BodyLimit`` has let it pass.
    """

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        """Return 400, 413 for a form over Django's own limit, or None to run the view."""
        # The API's views are exempt. Of all others, the CSRF check reads the form anyway.
        try:
            sent = [request.GET] if getattr(view, "csrf_exempt", False) else [request.GET, request.POST]
        except RequestDataTooBig:  # A form without a file, of a size that only a file may have.
            return too_large(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        texts = chain((request.path_info,), *(chain((name,), values) for each in sent for name, values in each.lists()))
        return unstorable(request) if any("\x00" in text for text in texts) else None


class CompressedPages(GZipMiddleware):
    """Compress pages. Answers of the API keep their strong ETags, and streams arrive event by event."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is a page."""
        is_page = not response.streaming and response.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page else response


class PrivateAnswers:
    """Set ``Cache-Control: private, no-cache`` on answers that depend on the caller, unless the view sets it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Set the header."""
        response = self.get_response(request)
        if not response.has_header("Cache-Control") and (
            request.headers.get("Authorization") or has_vary_header(response, "Cookie")
        ):
            patch_cache_control(response, private=True, no_cache=True)
        return response


class RequestLog(RequestMiddleware):
    """Log the end of each request without its query string, which may hold private search words.

    Successful polls (``_POLLED``) are not logged. Static files are served before this middleware.
    """

    _POLLED = {"live", "ready", "import-page", "tidy-plan", "job", "changes", "metrics"}

    def prepare(self, request: HttpRequest) -> None:
        """Start the timer."""
        request.META["keepsake.began_at"] = time.perf_counter()
        super().prepare(request)

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        """Log the request unless it was a successful poll."""
        match = request.resolver_match
        is_polled = request.method in {"GET", "HEAD"} and match is not None and match.view_name in self._POLLED
        if is_polled and response.status_code < HTTPStatus.BAD_REQUEST:
            structlog.contextvars.clear_contextvars()
            return
        seconds = time.perf_counter() - request.META["keepsake.began_at"]
        note_request(seconds, response.status_code)
        structlog.contextvars.bind_contextvars(ms=round(1000 * seconds))
        super().handle_response(request, response)

    @classmethod
    def bind_ip(cls, request: HttpRequest) -> None:
        """Log the address by which attempts are counted, which a client can't forge."""
        structlog.contextvars.bind_contextvars(ip=address_of(request))

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return method and path, with the parts that a client chooses, except ids, as ``[parameter]``: codes, names.

        Of an address that leads nowhere nothing is known, so nothing of it is logged.
        """
        match = request.resolver_match
        if match is None:
            return f"{request.method} unresolved"
        path = request.path
        for name, value in match.kwargs.items():
            if not isinstance(value, int | UUID) and f"<memory:{name}>" not in match.route:
                path = path.replace(f"/{value}", f"/[{name}]")
        return f"{request.method} {path}"
