"""Registers the room with Django."""

from django.apps import AppConfig


class StatementsConfig(AppConfig):
    """The Django application of this room."""

    name = "statements"

    def ready(self) -> None:
        """Register the check of names, and the listeners of withholding, refusals and undo."""
        from accounts.policy import register_rejected_check  # noqa: PLC0415 - models are loaded now
        from conversations.actions import (  # noqa: PLC0415
            before_withheld_erased,
            on_refusal,
            on_withheld,
            register_refused_search,
            register_retold_search,
        )
        from journal.undo import on_undo, wrap_undo  # noqa: PLC0415
        from journal.verdicts import compares_unlocked  # noqa: PLC0415

        from .actions import (  # noqa: PLC0415
            candidates_follow_refusal,
            candidates_follow_withholding,
            doubt_withheld,
            doubts_drop,
            refused_search,
            repeats_rejected,
            retold_search,
            suppress_due,
        )

        register_rejected_check(repeats_rejected)
        register_refused_search(refused_search)
        register_retold_search(retold_search)
        before_withheld_erased(suppress_due)
        on_withheld(doubt_withheld)
        on_withheld(candidates_follow_withholding)
        on_refusal(candidates_follow_refusal)
        on_undo(doubts_drop)
        wrap_undo(compares_unlocked)
