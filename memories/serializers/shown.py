"""What all serializers of memories and proposals keep from principals that see a part only."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.policy import may_see_sources
from accounts.principals import Principal
from statements.policy.resembling import reason_shown

from ..records import why_it_waits

_REASONS = {"reason", "state_reason"}


class ShownTo(serializers.BaseSerializer[Any]):
    """A serializer with the principal in its context."""

    @property
    def shows_sources(self) -> bool:
        """Whether the principal may read messages."""
        principal: Principal = self.context["principal"]
        return may_see_sources(principal)

    def conversation_shown(self, conversation_id: Any) -> str | None:
        """Return the conversation id if visible, else None."""
        return str(conversation_id) if conversation_id and self.shows_sources else None

    def to_representation(self, instance: Any) -> Any:
        """Tell only reasons that the principal may know."""
        shown = super().to_representation(instance)
        principal = self.context["principal"]
        reasons = {name: reason_shown(principal, shown[name]) for name in _REASONS & shown.keys()}
        if "state_reason" in reasons and "field" in shown:
            reasons["state_reason"] = why_it_waits(shown["state"], shown["field"], reasons["state_reason"])
        return {**shown, **reasons}
