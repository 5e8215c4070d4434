"""Rate limits per principal, against runaway loops. Without the cache, every call is allowed."""

from __future__ import annotations

import time
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from journal.cache import valkey

if TYPE_CHECKING:
    from rest_framework.views import APIView  # The view reads its defaults from this module.


def address_of(request: HttpRequest) -> str:
    """Return the client's address for counting attempts: an IPv4 address or an IPv6 /64 network.

    Behind a proxy it is the last entry of X-Forwarded-For, which the proxy added; clients can forge the others.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_PROXY else ""
    text = forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return "unknown"  # A Unix socket has no address.
    return str(address if address.version == 4 else ip_network(f"{address}/64", strict=False))


class PrincipalRateThrottle(SimpleRateThrottle):
    """Counts calls per caller and person, so that one busy user of a service does not block the others.

    It uses fixed windows of the clock (minutes, hours), so a count takes one round trip to the cache.
    """

    scope = "principal"
    num_requests: int
    duration: int

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the call. Whether it is within the rate."""
        key = self.get_cache_key(request, view) if self.rate else None
        if key is None:
            return True
        now = time.time()
        self.left = self.duration - now % self.duration
        return valkey().increment(f"{key}:{int(now // self.duration)}", self.duration) <= self.num_requests

    def wait(self) -> float:
        """Return the seconds until calls are allowed again."""
        return self.left

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """Return the counter's key; None (no limit) before authentication."""
        caller = getattr(request.user, "caller_key", None)
        return f"throttle:{caller}" if caller else None
