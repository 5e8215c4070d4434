"""The exception handler of the API: errors become ``{"detail", "code"}``, or a list of reasons per field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError
from django.http import Http404
from psycopg_pool import PoolTimeout
from rest_framework import exceptions, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.views import exception_handler

from journal.exceptions import Gone, IdempotentReplay, NotFound, Refused
from journal.models import ActorKind, Erased
from journal.operation_actions import note_refusal
from language.base import LanguageError

log = structlog.get_logger(__name__)
RETRY_SECONDS = "5"
_CODES = {status.HTTP_403_FORBIDDEN: "not_allowed", status.HTTP_404_NOT_FOUND: "not_found"}


def is_outage(error: BaseException | None) -> bool:
    """Whether the error means that the database or a model can't be reached, so a retry may succeed."""
    return isinstance(error, OperationalError | InterfaceError | PoolTimeout | LanguageError)


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle exceptions of API views for DRF. Returns None for an unexpected error, which Django answers with a 500."""
    if isinstance(error, IdempotentReplay):
        return _replay(error, context)
    if _is_missing(error) and was_erased(_asked_for(context), context.get("kwargs"), _caller(context)):
        error = Gone()
    if isinstance(error, Refused):
        _note_refusal(error, context)
        seconds = RETRY_SECONDS if error.status == 503 else error.retry_after
        return Response(error.body, status=error.status, headers={"Retry-After": str(seconds)} if seconds else None)
    if is_outage(error):
        log.warning("service_away", error=type(error).__name__)
        body = {"detail": "A service that Keepsake needs is away. Try again in a moment.", "code": "unavailable"}
        return Response(body, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers={"Retry-After": RETRY_SECONDS})
    answer = exception_handler(error, context)
    if answer is None or isinstance(error, ValidationError):
        return answer
    codes = error.get_codes() if isinstance(error, APIException) else None
    code = codes if isinstance(codes, str) else _CODES.get(answer.status_code, "invalid")
    answer.data = {"detail": str(answer.data["detail"]), "code": code}
    return answer


_REFUSALS = frozenset({status.HTTP_403_FORBIDDEN, status.HTTP_409_CONFLICT, status.HTTP_422_UNPROCESSABLE_ENTITY})


def _note_refusal(error: Refused, context: dict[str, Any]) -> None:
    """Queue a refused write for the log of operations."""
    user_id = _asked_for(context)
    if user_id is not None and error.status in _REFUSALS and context["request"].method not in SAFE_METHODS:
        note_refusal(user_id, error.code)


def _caller(context: dict[str, Any]) -> Any:
    """Return the caller's principal, or None."""
    # ``request.user`` would authenticate again, and raise, if authentication was what failed.
    return getattr(context.get("request"), "_user", None)


def _asked_for(context: dict[str, Any]) -> UUID | None:
    """Return the id of the person the caller acts for, or None."""
    return getattr(_caller(context), "user_id", None)


def _is_missing(error: Exception) -> bool:
    return isinstance(error, NotFound | Http404 | exceptions.NotFound)


def was_erased(user_id: UUID | None, url_kwargs: Mapping[str, Any] | None, caller: Any = None) -> bool:
    """Whether a URL names an object that the person erased in the last 90 days, and that the caller might have seen.

    ``caller`` is the principal of an API call; without one it is the person.
    """
    named = [str(value) for value in (url_kwargs or {}).values()]
    if user_id is None or not named:
        return False
    rows = Erased.objects.filter(object_id__in=named, erasure__user_id=user_id)
    if getattr(caller, "kind", "") == ActorKind.AGENT:
        rows = rows.seen_with(caller.categories, caller.sources, caller.agent_id)
    return rows.exists()


def _replay(error: IdempotentReplay, context: dict[str, Any]) -> Response | None:
    """Answer a repeated request. If its objects are gone by now, the answer is that error."""
    try:
        answer: Response = context["view"].replay(context["request"], error.record)
    except Exception as failure:  # noqa: BLE001 - answer_error passes on unexpected ones
        return answer_error(failure, context)
    answer["Idempotent-Replay"] = "true"
    return answer
