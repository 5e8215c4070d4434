"""Exceptions that every room raises, and that the API and the pages turn into a 4xx or 503 response."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.utils import timezone

Found = TypeVar("Found")


class Refused(Exception):
    """A request that can't be done, with a reason for the caller. Nothing was changed.

    ``detail`` is a sentence for a person, ``code`` a stable word for a program, ``status`` the HTTP status.
    ``extra`` is added to the response's JSON. ``retry_after`` is the seconds to wait before a retry, where known.
    """

    retry_after: int | None = None

    status = 400
    code = "invalid"

    def __init__(self, detail: str, *, code: str = "", **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.extra = extra

    @property
    def body(self) -> dict[str, Any]:
        """The JSON body of the API's response."""
        return {"detail": self.detail, "code": self.code, **self.extra}


class NotFound(Refused):
    """The object does not exist, or the caller may not know that it does."""

    status = 404
    code = "not_found"


def must_find(found: Found | None, noun: str) -> Found:
    """Return the result of a query. Raises NotFound ("There is no such ...", with ``noun``) for None."""
    if found is None:
        raise NotFound(f"There is no such {noun}.")
    return found


class NotAllowed(Refused):
    """The caller may see the object but not do this."""

    status = 403
    code = "not_allowed"


class NotYoursToDecide(NotAllowed):
    """The decision belongs to the person, not to this key."""

    code = "not_yours_to_decide"

    def __init__(
        self, detail: str = "This decision belongs to the person. Use their session or a key with the scope admin."
    ) -> None:
        super().__init__(detail)


class Gone(Refused):
    """The object was erased; only callers that could see it before get this."""

    status = 410
    code = "erased"

    def __init__(self, detail: str = "This was erased at the wish of its person.") -> None:
        super().__init__(detail)


class Conflict(Refused):
    """The object has changed, or is in a state that does not allow this."""

    status = 409
    code = "conflict"


class Gated(Refused):
    """A gate refused the content; ``detail`` gives the reason."""

    status = 422
    code = "gate"


class TooMany(Refused):
    """The caller has reached a limit per day."""

    status = 429
    code = "too_many_for_now"

    def __init__(self, detail: str, *, first_at: datetime | None, code: str = "") -> None:
        """``first_at`` is the time of the earliest one counted; a day after it, a retry can succeed."""
        super().__init__(detail, code=code)
        now = timezone.now()
        self.retry_after = max(1, math.ceil(((first_at or now) + timedelta(days=1) - now).total_seconds()))


class Unavailable(Refused):
    """A service that Keepsake needs can't be reached; a later retry may succeed."""

    status = 503
    code = "unavailable"


class IdempotentReplay(Exception):
    """The Idempotency-Key was used before with the same request; ``record`` holds that request's result."""

    def __init__(self, record: Any) -> None:
        super().__init__("replayed")
        self.record = record
