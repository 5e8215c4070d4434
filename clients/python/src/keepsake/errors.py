"""What can go wrong, a class for each way."""

from __future__ import annotations

from typing import Any


class KeepsakeError(Exception):
    """A request that failed.

    ``status`` and ``code`` are the answer's, 0 and empty without one. ``body`` is all that it says: of a conflict the
    ``memory`` or the ``current`` version, of a bad request the reasons by field.
    """

    def __init__(
        self, detail: str, *, status: int = 0, code: str = "", body: Any = None, after: float | None = None
    ) -> None:
        super().__init__(f"{detail} ({code})" if code else detail)
        self.detail, self.status, self.code, self.body = detail, status, code, body
        self.retry_after = after


class BadRequest(KeepsakeError):
    """400: something that was sent can't be meant."""


class NotAuthenticated(KeepsakeError):
    """401: no key, or one that counts no more."""


class NotAllowed(KeepsakeError):
    """403: ``not_yours_to_decide``, ``category_not_allowed``, ``memory_off`` and the like."""


class NotFound(KeepsakeError):
    """404: not there, or not for this key."""


class Conflict(KeepsakeError):
    """409: ``subject_exists``, ``similar_exists`` with a ``memory``, ``version_conflict`` with the ``current`` one."""


class Gone(KeepsakeError):
    """410: the person had it erased."""


class TooLarge(KeepsakeError):
    """413: more than may be sent at once."""


class Refused(KeepsakeError):
    """422: a gate refused it, ``detail`` says why."""


class RateLimited(KeepsakeError):
    """429: too many requests; ``retry_after`` is in seconds."""


class Unavailable(KeepsakeError):
    """5xx: Keepsake, or a service that it needs, is away or failed."""


class Unreachable(KeepsakeError):
    """No answer came. A write may have been done."""


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
    """The error that an answer of 400 or more stands for."""
    kind = _BY_STATUS.get(status, Unavailable if status >= 500 else BadRequest)
    told = body if isinstance(body, dict) else {}
    detail, code = told.get("detail"), told.get("code")
    if not isinstance(detail, str):
        detail = "; ".join(f"{name}: {reasons}" for name, reasons in told.items()) or text[:200] or f"HTTP {status}"
    return kind(detail, status=status, code=code if isinstance(code, str) else "", body=body, after=after)
