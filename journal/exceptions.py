"""Refusals that every room raises and the API and the pages turn into an answer."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone


class Refused(Exception):
    """A request that can't be done, with a reason for the caller. Nothing was changed.

    ``detail`` is a sentence for a person, ``code`` a stable word for a program, ``status`` the HTTP status.
    ``extra`` is added to the answer's JSON. ``retry_after`` is in how many seconds it is worth trying again, where that
    is known.
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
        """What the API answers with."""
        return {"detail": self.detail, "code": self.code, **self.extra}


class NotFound(Refused):
    """It does not exist, or the caller may not know that it does."""

    status = 404
    code = "not_found"


class NotAllowed(Refused):
    """The caller may see it but not do this."""

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
    """It was erased, and the caller knew it."""

    status = 410
    code = "erased"

    def __init__(self, detail: str = "This was erased at the wish of its person.") -> None:
        super().__init__(detail)


class Conflict(Refused):
    """The object has changed, or is in a state that does not allow this."""

    status = 409
    code = "conflict"


class Gated(Refused):
    """A gate refused the content, with the reason."""

    status = 422
    code = "gate"


class TooMany(Refused):
    """The caller has had as many of these as there are for now; later it works again."""

    status = 429
    code = "too_many_for_now"

    def __init__(self, detail: str, *, first_at: datetime | None, code: str = "") -> None:
        """``first_at`` is when the first of those was made that count today."""
        super().__init__(detail, code=code)
        now = timezone.now()
        self.retry_after = max(1, math.ceil(((first_at or now) + timedelta(days=1) - now).total_seconds()))


class Unavailable(Refused):
    """Something Keepsake needs is away; trying again later may work."""

    status = 503
    code = "unavailable"


class IdempotentReplay(Exception):
    """The Idempotency-Key was used before with the same request; ``record`` says what it did."""

    def __init__(self, record: Any) -> None:
        super().__init__("replayed")
        self.record = record
