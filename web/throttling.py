"""How often one principal may call. A courtesy limit against runaway loops; when the cache is away it lets through."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from journal.cache import valkey

if TYPE_CHECKING:
    from rest_framework.views import APIView  # The view reads its defaults from this module.


class PrincipalRateThrottle(SimpleRateThrottle):
    """Counts calls per caller and person, so that one busy user of a service does not stop the others.

    The minutes (or hours) begin with the clock's, so a count is one number and takes one round trip to the cache.
    """

    scope = "principal"
    num_requests: int
    duration: int

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the call, and say whether it is within what the rate allows."""
        key = self.get_cache_key(request, view) if self.rate else None
        if key is None:
            return True
        now = time.time()
        self.left = self.duration - now % self.duration
        return valkey().count(f"{key}:{int(now // self.duration)}", self.duration) <= self.num_requests

    def wait(self) -> float:
        """Seconds until calls are allowed again."""
        return self.left

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """The counter's key; None (no limit) before authentication."""
        caller = getattr(request.user, "caller_key", None)
        return f"throttle:{caller}" if caller else None
