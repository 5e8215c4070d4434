"""Registers the room with Django."""

from functools import partial

from django.apps import AppConfig


class FactsConfig(AppConfig):
    """The Django application of this room."""

    name = "facts"

    def ready(self) -> None:
        """Register the handlers of undo, refusals, withholding and doubts."""
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
        from journal.undo import register_undo  # noqa: PLC0415
        from statements.actions import active_statements, register_doubt_finder  # noqa: PLC0415

        from .actions.transitions import (  # noqa: PLC0415
            facts_follow_declined,
            facts_follow_refusal,
            facts_follow_withholding,
            facts_resting_on,
        )
        from .actions.undoing import facts_undo, legacies_of_facts  # noqa: PLC0415
        from .models import FACT  # noqa: PLC0415
        from .queries import facts_kept_of, facts_rejected, facts_say_again  # noqa: PLC0415

        on_declined(facts_follow_declined)
        on_refusal(facts_follow_refusal)
        register_repetition_search(facts_say_again)
        register_rejected_texts(facts_rejected)
        register_active_texts(partial(active_statements, FACT))
        register_kept_texts(facts_kept_of)
        on_withheld(facts_follow_withholding)
        register_doubt_finder("fact", facts_resting_on)
        register_undo("fact", facts_undo, ledgers=legacies_of_facts)
