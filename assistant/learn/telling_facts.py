"""Facts about the legacy of a talk: found in messages, and stored once each.

Messages that are read singly give their facts then. Batches find those of messages that have given none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accounts.categories import load as load_categories
from accounts.principals import Principal
from conversations.models import Conversation, Message
from facts.actions import PreparedFact, prepare_extracted, record_extracted
from facts.models import FactEvidence, LegacyFact
from journal.actions import LedgerWrite, count_use
from journal.operation_actions import note_operation
from language.base import Extraction, ExtractionRequest, FactCandidate, LanguageModel, MemoryCandidate
from statements.actions import candidate_keep
from statements.policy import urgency

from .learning import Part, learns_facts
from .writing import WAITING


def extract(principal: Principal, model: LanguageModel, part: Part) -> Extraction:
    """Call the model for the summary, facts and memories of a part. Raises LanguageError."""
    request = ExtractionRequest(
        messages=part.messages,
        user_name=principal.name,
        legacy_name=part.legacy_name,
        fact_categories=LegacyFact.Category.values,
        memory_categories=sorted(load_categories().by_name),
    )
    return count_use("extract", model.extract, request)


def find_facts(
    principal: Principal, conversation: Conversation, said: Mapping[int, str], extraction: Extraction
) -> list[PreparedFact]:
    """Prepare the facts that the person ``said``, by index, in messages that have given none yet.

    Call it outside any transaction. Raises LanguageError.
    """
    if conversation.legacy_id is None or not learns_facts(principal, conversation):
        return []
    read = FactEvidence.objects.filter(message__conversation=conversation, message__index__in=said)
    given = set(read.values_list("message__index", flat=True)) if extraction.facts else set()
    new = [fact for fact in extraction.facts if _is_borne_out(fact, said) and not given.issuperset(fact.indices)]
    return prepare_extracted(conversation.legacy_id, conversation.user_id, new, written_by=extraction.model)


def write_facts(
    write: LedgerWrite,
    principal: Principal,
    locked: Conversation,
    facts: Sequence[PreparedFact],
    messages: Mapping[int, Message],
    *,
    most: int,
) -> int:
    """Store at most so many prepared facts, under the locks of the person and the legacy. Returns how many are new.

    The others wait as candidates.
    """
    if not facts or not learns_facts(principal, locked):
        return 0
    in_order = sorted(facts, key=lambda fact: urgency(fact.wording.content))
    for fact in in_order[max(0, most) :]:
        message = messages.get(fact.indices[0])
        if message is not None:
            found = MemoryCandidate(fact.category, fact.wording.content, fact.indices[:1], fact.quote)
            candidate_keep(message, found, fact.written_by, is_fact=True)
            note_operation("extract", WAITING, "skipped", user_id=message.user_id, thread_id=message.conversation_id)
    return len(record_extracted(write, principal, locked, in_order[: max(0, most)], messages))


def _is_borne_out(fact: FactCandidate, said: Mapping[int, str]) -> bool:
    """Whether a candidate has valid evidence: known messages of the user, and a quote contained in one."""
    if not fact.indices or any(index not in said for index in fact.indices):
        return False
    quote = fact.quote.strip()
    return bool(quote) and quote in said[fact.indices[0]]
