"""Registers the room with Django."""

from functools import partial

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Memories of a person."""

    name = "memories"

    def ready(self) -> None:
        """Register this room's undo functions."""
        from conversations.actions import (  # noqa: PLC0415 - models are there only now
            on_declined,
            on_refusal,
            on_withheld,
            register_kept_texts,
        )
        from conversations.echoes import (  # noqa: PLC0415
            register_active_texts,
            register_rejected_texts,
            register_repetition_search,
        )
        from conversations.policy import register_title_check  # noqa: PLC0415
        from journal.undo import register_revert, register_undo  # noqa: PLC0415
        from statements.actions import active_statements, register_doubt_finder  # noqa: PLC0415

        from .actions.following import memories_follow_declined, memories_follow_refusal  # noqa: PLC0415
        from .actions.undoing import memories_undo  # noqa: PLC0415
        from .actions.undoing_others import places_undo, plan_revert, proposals_undo  # noqa: PLC0415
        from .actions.upkeep import memories_follow_withholding, memories_resting_on  # noqa: PLC0415
        from .models import MEMORY  # noqa: PLC0415
        from .policy.beside import title_waits  # noqa: PLC0415
        from .queries import (  # noqa: PLC0415
            memories_kept_of,
            memories_rejected,
            memories_say_again,
        )

        register_title_check(title_waits)
        register_repetition_search(memories_say_again)
        register_rejected_texts(memories_rejected)
        register_active_texts(partial(active_statements, MEMORY))
        register_kept_texts(memories_kept_of)
        on_withheld(memories_follow_withholding)
        on_declined(memories_follow_declined)
        on_refusal(memories_follow_refusal)
        register_doubt_finder("memory", memories_resting_on)
        register_undo("memory", memories_undo)
        register_undo("place", places_undo)
        register_undo("proposal", proposals_undo)
        register_revert("plan", plan_revert)
