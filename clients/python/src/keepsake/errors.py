"""The errors of the client, one class per kind."""

from __future__ import annotations

from typing import Any


class KeepsakeError(Exception):
    """A failed request.

    ``status`` and ``code`` are the response's, 0 and '' without a response. ``body`` is its whole body: for a conflict
    with the ``memory`` or the ``current`` version, for a bad request with the errors by field.
    """

    def __init__(
        self, detail: str, *, status: int = 0, code: str = "", body: Any = None, after: float | None = None
    ) -> None:
        super().__init__(f"{detail} ({code})" if code else detail)
        self.detail, self.status, self.code, self.body = detail, status, code, body
        self.retry_after = after


class BadRequest(KeepsakeError):
    """400: the request is invalid."""


class NotAuthenticated(KeepsakeError):
    """401: no key, or an invalid or revoked one."""


class NotAllowed(KeepsakeError):
    """403: ``not_yours_to_decide``, ``category_not_allowed``, ``memory_off`` and the like."""


class NotFound(KeepsakeError):
    """404: it does not exist, or this key may not see it."""


class Conflict(KeepsakeError):
    """409: ``subject_exists``, ``similar_exists`` with a ``memory``, ``version_conflict`` with the ``current`` one."""


class Gone(KeepsakeError):
    """410: the person had it erased."""


class TooLarge(KeepsakeError):
    """413: the request is too large."""


class Refused(KeepsakeError):
    """422: a gate rejected it; ``detail`` says why."""


class RateLimited(KeepsakeError):
    """429: too many requests; ``retry_after`` is in seconds."""


class Unavailable(KeepsakeError):
    """5xx: Keepsake, or a service that it needs, is unavailable or failed."""


class Unreachable(KeepsakeError):
    """No response arrived. A write may have been done."""


_BY_STATUS: dict[int, type[KeepsakeError]] = {
    400: BadRequest,
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    422: Refused,
    429: RateLimited,
}


def error_of(status: int, body: Any, text: str, after: float | None) -> KeepsakeError:
    """Return the error of a response with a status of 400 or more."""
    kind = _BY_STATUS.get(status, Unavailable if status >= 500 else BadRequest)
    told = body if isinstance(body, dict) else {}
    detail, code = told.get("detail"), told.get("code")
    if not isinstance(detail, str):
        detail = "; ".join(f"{name}: {reasons}" for name, reasons in told.items()) or text[:200] or f"HTTP {status}"
    return kind(detail, status=status, code=code if isinstance(code, str) else "", body=body, after=after)
