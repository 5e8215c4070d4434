"""The current principal of a request, job or command, as a context variable and in its log lines.

``acting_as`` sets it for a block, ``working_for`` for a maintenance job. The middleware resets it around each request,
and authentication sets it by ``enter``. Row-level security will read it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bind_contextvars, bound_contextvars

from .principals import Principal

_acting: ContextVar[Principal | None] = ContextVar("acting_as", default=None)
_made: ContextVar[list[UUID] | None] = ContextVar("made_people", default=None)
_unmake: list[Callable[[Sequence[UUID]], None]] = []


def current_principal() -> Principal:
    """Return the current principal. Raises LookupError if there is none."""
    principal = _acting.get()
    if principal is None:
        raise LookupError("No principal is acted for: enter accounts.scope.acting_as first.")
    return principal


def acting_name() -> str:
    """Return the name of the person that is acted for, or "" if none is or it was not read."""
    principal = _acting.get()
    return principal.name if principal else ""


@contextmanager
def acting_as(principal: Principal) -> Iterator[Principal]:
    """Set the current principal within the block, and restore the previous one afterwards."""
    token = _acting.set(principal)
    try:
        with bound_contextvars(**_shown(principal)):
            yield principal
    finally:
        _acting.reset(token)


def working_for(user_id: UUID | None, job: str) -> AbstractContextManager[Principal]:
    """Act as a maintenance job for a person, or for everybody. The person's preferences are not read."""
    return acting_as(Principal(kind="job", actor_id=job, user_id=user_id, scopes=frozenset()))


def enter(principal: Principal) -> Principal:
    """Set the current principal for the rest of the request or command, and add it to its log lines."""
    _acting.set(principal)
    bind_contextvars(**_shown(principal))
    return principal


def note_made(user_id: UUID) -> None:
    """Note that the current request made a person, who goes again if it fails. Does nothing outside of a request."""
    made = _made.get()
    if made is not None:
        made.append(user_id)


def on_failed_request(unmake: Callable[[Sequence[UUID]], None]) -> None:
    """Register what removes the people that a failed request made."""
    _unmake.append(unmake)


@contextmanager
def unmaking_people() -> Iterator[Callable[[], None]]:
    """Note whom the block makes, and yield a function that removes them again. An exception removes them, too."""
    made: list[UUID] = []
    noted = _made.set(made)

    def unmake() -> None:
        for remove in _unmake if made else ():
            remove(made)

    try:
        yield unmake
    except BaseException:
        unmake()
        raise
    finally:
        _made.reset(noted)


class RequestScope:
    """Middleware that resets the current principal after each request, and keeps nobody whom a failed one made."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request without a current principal at the start, and restore the previous one."""
        with unmaking_people() as unmake:
            token = _acting.set(None)
            try:
                response = self.get_response(request)
            finally:
                _acting.reset(token)
            if _has_failed(response):
                unmake()
        return response


def _has_failed(response: HttpResponse) -> bool:
    """Whether a request failed: by its status, or as a tool's call that a model can correct."""
    data = getattr(response, "data", None)
    return response.status_code >= 400 or (isinstance(data, dict) and data.get("ok") is False)


def _shown(principal: Principal) -> dict[str, str]:
    return {"user_id": str(principal.user_id), "actor": f"{principal.kind}:{principal.actor_id}"}
