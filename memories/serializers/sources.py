"""Where something was said is shown to those who may read it there."""

from __future__ import annotations

from typing import Any

from accounts.policy import may_see_sources
from accounts.principals import Principal


class ShownTo:
    """A serializer with the principal in its context."""

    context: dict[str, Any]

    @property
    def shows_sources(self) -> bool:
        """Whether the principal may read what the person said."""
        principal: Principal = self.context["principal"]
        return may_see_sources(principal)

    def conversation_shown(self, conversation_id: Any) -> str | None:
        """The conversation, or None when there is none or the principal may not know of it."""
        return str(conversation_id) if conversation_id and self.shows_sources else None
