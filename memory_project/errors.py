"""What a request gets when no view could answer it: JSON for programs, a plain page elsewhere, never a trace."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.utils.translation import gettext as _

from web.errors import RETRY_SECONDS, is_outage


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request can't be read, or names a host that this deployment does not serve."""
    return _answer(request, 400, "invalid", _("The request could not be understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: signed in, but not for this."""
    return _answer(request, 403, "not_allowed", _("You may not do this."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: a form came without the token that shows it is ours."""
    return _answer(request, 403, "csrf", _("The form had expired. Go back, reload the page and send it again."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: there is nothing here, or nothing that the caller may know of."""
    return _answer(request, 404, "not_found", _("There is nothing at this address."))


def too_large(request: HttpRequest, most: int) -> HttpResponse:
    """413: more was sent than ``most`` bytes."""
    return _answer(request, 413, "too_large", _("The body is larger than %(size)s MB.") % {"size": most // 1_048_576})


def too_slow(request: HttpRequest) -> HttpResponse:
    """408: the body did not come in time."""
    return _answer(request, 408, "too_slow", _("The body did not come in time."))


def server_error(request: HttpRequest) -> HttpResponse:
    """503 with Retry-After when a server that Keepsake needs is away, 500 for everything else."""
    if is_outage(sys.exc_info()[1]):
        answer = _answer(
            request, 503, "unavailable", _("A service that Keepsake needs is away. Try again in a moment.")
        )
        answer["Retry-After"] = RETRY_SECONDS
        return answer
    return _answer(request, 500, "error", _("Something went wrong here. It has been logged, and nothing was changed."))


def _answer(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    if request.path_info.startswith(("/api/", "/mem0/")):
        return JsonResponse({"detail": detail, "code": code}, status=status)
    # Without the request no context processor runs: one of them would ask the database, which may be what is away.
    page = loader.render_to_string("error.html", {"status": status, "detail": detail})
    return HttpResponse(page, status=status)
