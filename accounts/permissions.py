"""Whether a request may reach a view at all: there is a principal, and its scopes cover the method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from . import policy
from .principals import Principal

if TYPE_CHECKING:
    from rest_framework.views import APIView  # The view reads its defaults from this module.


class HasPrincipal(BasePermission):
    """Reads need the scope read, everything else write. Decisions of the person are checked by the actions."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """False answers 401; a missing scope answers 403 with its name."""
        if not isinstance(request.user, Principal):
            return False
        if request.method in SAFE_METHODS or getattr(view, "reads_only", False):
            policy.must_read(request.user)
        else:
            policy.must_write(request.user)
        return True
