"""Keepsake's client: ``Keepsake`` (synchronous) and ``AsyncKeepsake``. Their errors are ``KeepsakeError``."""

from .async_client import AsyncKeepsake
from .client import Keepsake
from .errors import (
    BadRequest,
    Conflict,
    Gone,
    KeepsakeError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    RateLimited,
    Refused,
    TooLarge,
    Unavailable,
    Unreachable,
)
from .events import Event

__all__ = [
    "AsyncKeepsake",
    "BadRequest",
    "Conflict",
    "Event",
    "Gone",
    "Keepsake",
    "KeepsakeError",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "RateLimited",
    "Refused",
    "TooLarge",
    "Unavailable",
    "Unreachable",
]
