"""What memories do when the person asks that something be not kept, or words are withheld by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Min

from accounts.scope import acting_name
from conversations.actions import HeardRefusal
from conversations.models import Message, Withheld
from conversations.passages import MARK, Original
from conversations.querysets import QUOTES_WITHHELD
from journal.actions import LedgerWrite
from language.reading.refusals import find_named, lemmas, restates
from statements.actions import PRESENT
from statements.policy.naming import as_of_user

from ..models import Memory, MemoryEvidence, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet
from ..records import RELAYED
from .many import withhold
from .proposing import propose_change
from .single import author, memory_changing
from .transitions import archive, learned_from


def memories_follow_declined(
    write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], relayed_by: UUID | None
) -> None:
    """Archive and suppress the unreviewed memories that rest only on the withheld words of these messages.

    That is those learned from them, and those that agents noted since then, from them or without a source, and that
    state the same: if an agent declined the message, only its own. The caller holds the person's ledger lock.
    """
    rows = Message.objects.filter(pk__in=message_ids)
    talks = {str(talk) for talk in rows.values_list("conversation_id", flat=True)}
    meta = {"conversation_id": talks.pop()} if len(talks) == 1 else {}
    said = MemoryEvidence.objects.filter(version__user_id=user_id)
    undecided = _present(user_id).filter(reviewed_at__isnull=True, pinned=False)
    quoted = said.filter(message__in=message_ids, version__recorded_to__isnull=True)
    of_these = undecided.filter(pk__in=quoted.values("version__memory"))
    # An agent names a whole message, not the sentence that it noted something from.
    in_part = said.exclude(message__content=MARK).values("version__memory")
    found = list(learned_from(user_id, QUOTES_WITHHELD).without_vectors().filter(pk__in=of_these.values("pk")))
    found += of_these.exclude(pk__in=in_part)
    since = rows.filter(role=Message.Role.USER).aggregate(since=Min("created_at"))["since"]
    if since is not None:
        causes = Withheld.objects.filter(user_id=user_id).because_of(Withheld.Cause.MESSAGE, message_ids)
        texts = causes.restorable().passages().filter(message__in=message_ids).values_list("text", flat=True)
        sentences = [original.words(span) for original in map(Original, texts) for span in original.sentences()]
        others = said.exclude(QUOTES_WITHHELD).exclude(message__in=message_ids).values("version__memory")
        found += _noted_since(undecided.exclude(pk__in=others), since, sentences)
    gone = {each.pk: each for each in found if relayed_by is None or writing.is_undecided(each, relayed_by)}
    for memory in gone.values():
        with memory_changing(write, memory) as change:
            archive(change, Why.PERSON, withholds=False, **meta)


def _present(user_id: UUID) -> MemoryQuerySet:
    return Memory.objects.filter(user_id=user_id, state__in=PRESENT).without_vectors()


def _noted_since(present: MemoryQuerySet, since: datetime, said: Collection[str]) -> Iterable[Memory]:
    """Yield the unreviewed memories added since then that state one of these sentences."""
    name = acting_name()
    added = present.filter(created_at__gte=since, reviewed_at__isnull=True, pinned=False)
    return (memory for memory in added if restates(as_of_user(memory.content, name), said))


def memories_follow_refusal(write: LedgerWrite, user_id: UUID, heard: HeardRefusal) -> None:
    """Archive and suppress the memories that a refusal in a conversation is about.

    These are memories with evidence only in the withheld words, equal ones added since, and those that the person
    names: one memory, or all about a topic if they ask for that. What they confirmed, learned from the same words,
    stays if it has no word of what they name, but another memory has. If an agent relays the refusal, those that the
    person decided about wait for them, and so do other agents'.
    """
    present = _present(user_id)
    withheld = Withheld.objects.because_of(heard.cause.type, [heard.cause.id])
    quotes = withheld.filter(object_type=MemoryEvidence._meta.label_lower).values_list("object_id", flat=True)
    behind = MemoryEvidence.objects.filter(version__user_id=user_id, version__recorded_to__isnull=True)
    others = behind.exclude(pk__in=list(quotes)).values("version__memory")
    learned = present.filter(pk__in=behind.filter(pk__in=list(quotes)).values("version__memory")).exclude(pk__in=others)
    named = {each.pk: each for each in [*(one for one in learned if _has_named(one, heard)), *_named(present, heard)]}
    # Where none is named, the words were found by what they mean: "my birthday", "born on 4 May".
    gone = {each.pk: each for each in learned if each.reviewed_at is None or not (heard.named and named)}
    gone |= {memory.pk: memory for memory in _noted_since(present, heard.since, heard.said)} | named
    agent = heard.relayed_by
    for memory in gone.values():
        if agent is None or writing.is_undecided(memory, agent.agent_id):
            with memory_changing(write, memory) as change:
                archive(change, Why.PERSON, withholds=agent is None, conversation_id=heard.conversation_id)
            if agent is not None:
                withhold(write, user_id, [memory.pk], relayed=True)
        elif memory.state == State.ACTIVE:
            propose_change(
                write,
                agent,
                Proposal.Kind.ARCHIVE,
                memory,
                {},
                written_by=author(agent),
                conversation_id=heard.conversation_id,
                reason=RELAYED,
            )


def _has_named(memory: Memory, heard: HeardRefusal) -> bool:
    return not heard.named.isdisjoint(lemmas(as_of_user(memory.content, acting_name())))


def _named(present: MemoryQuerySet, heard: HeardRefusal) -> list[Memory]:
    """Return the memories that a refusal names; none if it is ambiguous, unless it means all."""
    known = list(present.naming(heard.named))
    told = [(as_of_user(each.content, acting_name()), each.subject) for each in known]
    return [known[place] for place in find_named(heard.named, told, whole=heard.whole, denied=heard.denied)]
