"""``Idempotency-Key`` on a POST: the same request done twice does its work once and gets the same answer."""

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


class IdempotentCaller(Protocol):
    """What a request's principal has to be: told from others by a key, and able to carry an Idempotency-Key."""

    @property
    def caller_key(self) -> str:
        """Who asks, and for whom."""

    def with_idempotency(self, claim: IdempotencyClaim | None) -> Self:
        """The same principal with the request's key."""


P = TypeVar("P", bound=IdempotentCaller)


class IdempotentView(APIView, Generic[P]):
    """A view whose POSTs honour the header.

    Call ``caller(request)`` for the principal and hand that to one action; the action's transaction keeps the key. A
    repeated request ends in ``render_result``, which shows the same objects as they are now. A view that
    ``takes_uploads`` says what was sent when it calls ``caller``: its body does not fit into memory.
    """

    takes_uploads = False
    _told: hashlib._Hash | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Hash the bytes that were sent, before CSRF checks or a parser read the stream, which can be read once."""
        if request.method == "POST" and HEADER in request.META:
            told = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
            if not self.takes_uploads:
                told.update(request.body)
            self._told = told
        super().initial(request, *args, **kwargs)

    def caller(self, request: Request, sent: str = "") -> P:
        """The principal, carrying the request's Idempotency-Key if it has one. Raises Refused for a bad key."""
        principal = self._principal(request)
        if self._told is None:
            return principal
        self._told.update(sent.encode())
        key = request.META[HEADER]
        if not 1 <= len(key) <= 255 or not key.isprintable():
            raise Refused("An Idempotency-Key has 1 to 255 printable characters.", code="bad_idempotency_key")
        # IdempotentCaller: nobody who reads the table can try what was sent.
        sent_hash = salted_hmac(_SALT, self._told.hexdigest(), algorithm="sha256").hexdigest()
        return principal.with_idempotency(IdempotencyClaim(principal.caller_key, key, sent_hash))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Answer a repeated request from what its first run did."""
        data = self.render_result(self._principal(request), record.object_ids)
        return Response(data, status=record.status_code or 200)

    def render_result(self, principal: P, object_ids: list[str]) -> Any:
        """Show the objects that the first request made. Raises NotFound when they are gone."""
        raise NotImplementedError

    def _principal(self, request: Request) -> P:
        principal: Any = request.user
        if not hasattr(principal, "caller_key"):
            raise NotAuthenticated
        return cast(P, principal)
