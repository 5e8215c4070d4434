"""Error handlers for requests that no view answered: JSON for the API, else a plain page; never a traceback."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.urls import is_valid_path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from web.errors import RETRY_SECONDS, is_outage, was_erased


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400: the request is malformed or names an unknown host."""
    return _answer(request, 400, "invalid", _("The request could not be understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 403: the user lacks the permission."""
    return _answer(request, 403, "not_allowed", _("You may not do this."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403: the CSRF token is missing or wrong, e.g. as the person has signed in anew in another tab."""
    sent_from = request.headers.get("Referer", "")
    is_own = url_has_allowed_host_and_scheme(sent_from, {request.get_host()}, require_https=request.is_secure())
    detail = _("The form had expired, so nothing was changed. Go back to it: what you typed is there again.")
    return _answer(request, 403, "csrf", detail, back=sent_from if is_own else "")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404: nothing here that the caller may see; 410 for what the person themselves erased lately."""
    match, user = request.resolver_match, getattr(request, "user", None)
    if match is not None and user is not None and user.is_authenticated and was_erased(user.pk, match.kwargs):
        return _answer(request, 410, "erased", _("You erased this. Nothing of it is left."))
    return _answer(request, 404, "not_found", _("There is nothing at this address."))


def for_forms_only(request: HttpRequest) -> HttpResponse:
    """Return 405: an address that forms are sent to was opened; with a link to the nearest address above it."""
    detail = _("Only forms are sent to this address, so nothing was changed.")
    return _answer(request, 405, "not_allowed", detail, back=_above(request.path_info))


def _above(address: str) -> str:
    parts = address.strip("/").split("/")
    above = ("/".join(["", *parts[:end], ""]) for end in range(len(parts) - 1, 0, -1))
    return next(filter(is_valid_path, above), "")


def unstorable(request: HttpRequest) -> HttpResponse:
    """Return 400: the address or the form holds a NUL, which PostgreSQL can't store or compare."""
    return _answer(request, 400, "bad_text", _("The address or the form holds a NUL character, which can't be stored."))


def bad_charset(request: HttpRequest) -> HttpResponse:
    """Return 415: the texts are in a charset that is not read."""
    return _answer(request, 415, "bad_charset", _("Texts are read as UTF-8."))


def too_large(request: HttpRequest, most: int) -> HttpResponse:
    """Return 413: the body has more than ``most`` bytes."""
    return _answer(request, 413, "too_large", _("The body is larger than %(size)s MB.") % {"size": most // 1_048_576})


def too_slow(request: HttpRequest) -> HttpResponse:
    """Return 408: the body did not arrive in time."""
    return _answer(request, 408, "too_slow", _("The body did not come in time."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 503 with Retry-After when a server that Keepsake needs is unavailable, else 500."""
    if is_outage(sys.exc_info()[1]):
        answer = _answer(
            request, 503, "unavailable", _("A service that Keepsake needs is away. Try again in a moment.")
        )
        answer["Retry-After"] = RETRY_SECONDS
        return answer
    told = _("Something went wrong here. It has been logged.")
    if request.method not in {"GET", "HEAD"}:  # It may have failed after it was stored.
        told = _("Something went wrong here. It has been logged. Look whether it was done before you try again.")
    return _answer(request, 500, "error", told)


def _answer(request: HttpRequest, status: int, code: str, detail: str, *, back: str = "") -> HttpResponse:
    if request.path_info.startswith(("/api/", "/mem0/")):
        return JsonResponse({"detail": detail, "code": code}, status=status)
    # Rendered without the request, so no context processor queries the database, which may be unavailable.
    page = loader.render_to_string("error.html", {"status": status, "detail": detail, "back": back})
    return HttpResponse(page, status=status)
