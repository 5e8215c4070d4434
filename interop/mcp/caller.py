"""The caller of an MCP connection: runs database work off the event loop and maps exceptions to MCP errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from uuid import UUID

import structlog
from mcp import MCPError
from mcp.types import CallToolResult
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from redis.exceptions import RedisError
from rest_framework.exceptions import APIException

from accounts.authentication import PrincipalFactory
from accounts.principals import Principal
from accounts.scope import acting_as, unmaking_people
from journal.exceptions import NotFound, Refused
from web.errors import is_outage
from web.threads import ThreadRunner

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class McpCaller:
    """A connection's caller.

    ``again`` authenticates anew and returns the principal; ``hop`` runs a function in a thread with the database.
    ``session`` is the session id of a client with the older protocol version over HTTP, or ''.
    """

    again: PrincipalFactory
    user_id: UUID
    caller_key: str
    hop: ThreadRunner
    session: str = ""

    async def run(self, function: Callable[[Principal], T], *, makes_person: bool = False) -> T:
        """Authenticate, run the function in the principal's scope and return its result. Raises MCPError only.

        ``makes_person``: whether a service's key may create the person it names; a call that fails creates nobody.
        """

        def work() -> T:
            with unmaking_people() as unmake, acting_as(self.again(makes_person=makes_person)) as principal:
                result = function(principal)
                if isinstance(result, CallToolResult) and result.is_error:
                    unmake()
                return result

        try:
            return await self.hop(work)
        except MCPError:
            raise
        except Exception as error:
            raise _to_mcp_error(error) from error

    @property
    def reader(self) -> Callable[[], Principal]:
        """A function that authenticates again for reading."""
        return partial(self.again, makes_person=False)


def _to_mcp_error(error: Exception) -> MCPError:
    """Map an exception to an MCPError. Messages of unexpected ones are not passed on: they may hold private text."""
    if isinstance(error, Refused):
        code = INVALID_PARAMS if isinstance(error, NotFound) else INVALID_REQUEST
        return MCPError(code, error.detail, {"code": error.code})
    if isinstance(error, APIException):
        return MCPError(INVALID_REQUEST, str(error.detail), {"code": "not_allowed"})
    if is_outage(error) or isinstance(error, RedisError):
        log.warning("service_away", error=type(error).__name__)
        return MCPError(INTERNAL_ERROR, "A service that Keepsake needs is away. Try again in a moment.")
    log.error("mcp_failed", error=type(error).__name__, exc_info=error)
    return MCPError(INTERNAL_ERROR, "Something went wrong here. It has been logged.")
