"""``Idempotency-Key`` on a POST: a repeated request is not executed again, and gets the same answer."""

from __future__ import annotations

import hashlib
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from django.utils.crypto import salted_hmac
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from journal.exceptions import Refused
from journal.models import IdempotencyRecord
from journal.records import IdempotencyClaim

HEADER = "HTTP_IDEMPOTENCY_KEY"
_SALT = "keepsake.request-hash"
_KEY_SALT = "keepsake.idempotency-key"


class IdempotentCaller(Protocol):
    """The part of a principal that idempotency needs."""

    @property
    def caller_key(self) -> str:
        """Identifies the caller and the person it acts for."""

    def with_idempotency(self, claim: IdempotencyClaim | None) -> Self:
        """Return the principal with the request's key."""


P = TypeVar("P", bound=IdempotentCaller)


class IdempotentView(APIView, Generic[P]):
    """A view whose POSTs honour the header.

    Pass the principal of ``caller(request)`` to one action, whose transaction stores the key. For a repeated request,
    ``render_result`` returns the current state of the same objects. With ``takes_uploads`` the body is too large to be
    hashed in memory, so the view passes a digest of it to ``caller``.
    """

    takes_uploads = False
    _told: hashlib._Hash | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Hash the request before CSRF checks or a parser read the stream, which can be read only once."""
        if request.method == "POST" and HEADER in request.META:
            told = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
            if not self.takes_uploads:
                told.update(request.body)
            self._told = told
        super().initial(request, *args, **kwargs)

    def caller(self, request: Request, sent: str = "") -> P:
        """Return the principal with the request's Idempotency-Key, if any. Raises Refused (400) for a bad key."""
        principal = self._principal(request)
        if self._told is None:
            return principal
        self._told.update(sent.encode())
        key = request.META[HEADER]
        if not 1 <= len(key) <= 255 or not key.isprintable():
            raise Refused("An Idempotency-Key has 1 to 255 printable characters.", code="bad_idempotency_key")
        # Keyed, so that readers of the table can't test guesses of the body; a client's key may hold words of it.
        sent_hash = salted_hmac(_SALT, self._told.hexdigest(), algorithm="sha256").hexdigest()
        key = salted_hmac(_KEY_SALT, key, algorithm="sha256").hexdigest()
        return principal.with_idempotency(IdempotencyClaim(principal.caller_key, key, sent_hash))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Answer a repeated request from the stored result."""
        data = self.render_result(self._principal(request), record.object_ids)
        return Response(data, status=record.status_code or 200)

    def render_result(self, principal: P, object_ids: list[str]) -> Any:
        """Render the objects of the first request. Raises NotFound (404) if they are gone."""
        raise NotImplementedError

    def _principal(self, request: Request) -> P:
        principal: Any = request.user
        if not hasattr(principal, "caller_key"):
            raise NotAuthenticated
        return cast(P, principal)
