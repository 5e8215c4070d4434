"""How often one principal may call. A courtesy limit against runaway loops; when the cache is away it lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from .principals import Principal

if TYPE_CHECKING:
    from rest_framework.views import APIView  # The view reads its defaults from this module.


class PrincipalRateThrottle(SimpleRateThrottle):
    """Counts calls per caller and person, so that one busy user of a service does not stop the others."""

    scope = "principal"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """The counter's key; None (no limit) before authentication."""
        if not isinstance(request.user, Principal):
            return None
        return f"throttle:{request.user.actor_id}:{request.user.user_id}"
