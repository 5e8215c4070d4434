"""Registers the room with Django."""

from django.apps import AppConfig


class StatementsConfig(AppConfig):
    """What facts and memories share."""

    name = "statements"

    def ready(self) -> None:
        """Follow words that are withheld or refused, and doubt no more what rests on a change that was undone."""
        from conversations.actions import follows_refusals, follows_withholding  # noqa: PLC0415 - models are there only now
        from journal.undo import on_undo  # noqa: PLC0415

        from .actions import (  # noqa: PLC0415
            candidates_follow_refusal,
            candidates_follow_withholding,
            doubt_withheld,
            doubts_drop,
        )

        follows_withholding(doubt_withheld)
        follows_withholding(candidates_follow_withholding)
        follows_refusals(candidates_follow_refusal)
        on_undo(doubts_drop)
