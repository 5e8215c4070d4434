"""Registers the room with Django."""

from django.apps import AppConfig


class FactsConfig(AppConfig):
    """What members say about a legacy, and its history."""

    name = "facts"

    def ready(self) -> None:
        """Tell undo how facts are put back, and follow what is refused and withheld."""
        from conversations.actions import (  # noqa: PLC0415 - models are there only now
            follows_refusals,
            follows_withholding,
            keeps_of_messages,
        )
        from conversations.echoes import says_again  # noqa: PLC0415
        from journal.undo import register_undo  # noqa: PLC0415
        from statements.actions import doubted_by  # noqa: PLC0415

        from .actions.transitions import (  # noqa: PLC0415
            facts_follow_refusal,
            facts_follow_withholding,
            facts_resting_on,
        )
        from .actions.undoing import facts_undo, legacies_of_facts  # noqa: PLC0415
        from .queries import facts_kept_of, facts_say_again  # noqa: PLC0415

        follows_refusals(facts_follow_refusal)
        says_again(facts_say_again)
        keeps_of_messages(facts_kept_of)
        follows_withholding(facts_follow_withholding)
        doubted_by("fact", facts_resting_on)
        register_undo("fact", facts_undo, ledgers=legacies_of_facts)
