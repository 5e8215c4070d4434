"""What agents were shown, by ids alone."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from unfold.decorators import display

from accounts.models import Agent
from conversations.models import Conversation
from web.admin import link_to, linked

from ..models import Disclosure, Memory
from .memories import OfPersonAdmin


@admin.register(Disclosure)
class DisclosureAdmin(OfPersonAdmin):
    """Which agent was shown which memories, and how."""

    list_display = ["id", "person", "agent_link", "labelled_by", "how_many", "at"]
    list_filter = ["by", "at"]
    list_select_related = ["user", "agent"]
    fields = ["person", "agent_link", "by", "conversation_link", "memory_links", "at"]
    readonly_fields = ["person", "agent_link", "conversation_link", "memory_links"]
    search_help_text = "The id of a person, or part of their name"

    @display(description="by", ordering="by", label={"query": "info", "context": "default", "turn": "default"})
    def labelled_by(self, disclosure: Disclosure) -> tuple[str, str]:
        """What the agent had asked for."""
        return disclosure.by, disclosure.get_by_display()

    @admin.display(description="memories")
    def how_many(self, disclosure: Disclosure) -> int:
        """How many memories the answer held."""
        return len(disclosure.memories)

    agent_link = linked(Agent, "agent_id", "agent", name="agent.name")

    @admin.display(description="conversation")
    def conversation_link(self, disclosure: Disclosure) -> Any:
        """Where, if that was said and it is still there."""
        return "-" if disclosure.conversation_id is None else link_to(Conversation, disclosure.conversation_id)

    @admin.display(description="memories")
    def memory_links(self, disclosure: Disclosure) -> Any:
        """Which memories; each opens its text for a reason, unless it is gone."""
        return format_html_join(" ", "{}", ((link_to(Memory, memory_id),) for memory_id in disclosure.memories))
