"""Taking back what was found in a conversation that goes, as if it had never been said."""

from __future__ import annotations

from conversations.models import Conversation
from journal.actions import LedgerWrite
from statements.actions import erase

from ..models import FACT, FactEvidence, LegacyFact
from ..policy import State
from .single import fact_under_lock


def facts_take_back(write: LedgerWrite, conversation: Conversation) -> tuple[int, int]:
    """Remove what was learned from a conversation alone, inside the transaction that removes the conversation.

    The caller holds the ledgers of the person and of the conversation's legacy. What the person has approved, edited,
    shared or rejected stays, since that is their decision, and so does what other conversations say as well. The
    same may be learned again: no suppression is left. Returns how many facts were removed, and how many that were
    found there stay.
    """
    said_here = FactEvidence.objects.filter(message__conversation=conversation).values("fact")
    said_elsewhere = FactEvidence.objects.filter(fact__user_id=conversation.user_id).exclude(
        message__conversation=conversation
    )
    found = LegacyFact.objects.filter(user_id=conversation.user_id, pk__in=said_here)
    rows = found.filter(reviewed_at__isnull=True, hidden_at__isnull=True, version=1).exclude(written_by="")
    rows = rows.filter(state__in=[State.PROPOSED, State.ACTIVE, State.QUARANTINED]).exclude(
        pk__in=said_elsewhere.values("fact")
    )
    facts = list(rows.order_by("pk").values_list("pk", "version"))
    stay = found.count() - len(facts)
    for fact_id, version in facts:
        with fact_under_lock(write, LegacyFact.objects.all(), fact_id) as change:
            change.leave(State.ARCHIVED)  # So that the legacy's counts are right.
        write.change(conversation.user_id, "PURGE", "fact", fact_id, old_version=version)
    erase(FACT, [fact_id for fact_id, _ in facts])
    return len(facts), stay
