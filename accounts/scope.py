"""Whom the code that runs is acting for: one principal for a request, a job or a command, and for every log line of it.

``acting_as`` opens a scope and closes it again; ``working_for`` does for upkeep, and around every task. A request's
scope is opened before anybody knows who asks, by the middleware, and ``enter`` says it as soon as authentication does.
Row-level security will read it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bind_contextvars, bound_contextvars

from .principals import Principal

_acting: ContextVar[Principal | None] = ContextVar("acting_as", default=None)


def current_principal() -> Principal:
    """The principal of the innermost scope. Raises LookupError where nobody is acted for."""
    principal = _acting.get()
    if principal is None:
        raise LookupError("No principal is acted for: enter accounts.scope.acting_as first.")
    return principal


@contextmanager
def acting_as(principal: Principal) -> Iterator[Principal]:
    """Act for a principal until the block ends, and then for whomever it was before."""
    token = _acting.set(principal)
    try:
        with bound_contextvars(**_shown(principal)):
            yield principal
    finally:
        _acting.reset(token)


def working_for(user_id: UUID | None, job: str) -> AbstractContextManager[Principal]:
    """Act as a job that keeps a person's rows in order, or everybody's. What the person allows is not read for it."""
    return acting_as(Principal(kind="job", actor_id=job, user_id=user_id, scopes=frozenset()))


def enter(principal: Principal) -> Principal:
    """Act for a principal for the rest of this request or command, and name them in the lines that it still logs."""
    _acting.set(principal)
    bind_contextvars(**_shown(principal))
    return principal


class RequestScope:
    """Middleware: whoever a request enters as is left when it has been answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request in a scope of its own."""
        token = _acting.set(None)
        try:
            return self.get_response(request)
        finally:
            _acting.reset(token)


def _shown(principal: Principal) -> dict[str, str]:
    return {"user_id": str(principal.user_id), "actor": f"{principal.kind}:{principal.actor_id}"}
