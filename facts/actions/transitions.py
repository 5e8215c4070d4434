"""State transitions of facts: share, approve, reject, delete, restore; and reactions to withholding and leaving.

``version`` is the version that the caller saw; another current one is a Conflict (409 ``version_conflict``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.actions import member_detach
from accounts.models import Member
from accounts.policy import must_decide, must_decide_for_all
from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from conversations.actions import (
    Cause,
    HeardRefusal,
    original_quotes,
    plan_withholding,
    summaries_hide,
    words_restore,
    words_withhold,
)
from conversations.models import Conversation, Withheld
from conversations.passages import MARK
from conversations.querysets import QUOTES_WITHHELD
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotAllowed, must_find
from journal.queue import enqueue
from journal.verdicts import compares_unlocked
from language.reading.refusals import count_extra_words
from statements.actions import (
    GONE,
    PRESENT,
    ChangedStatement,
    check_kept,
    check_state,
    doubt_dependents,
    doubt_statement,
    erase,
    resemblance_lift,
    suppress,
    unsuppress,
)
from statements.models import Doubt, RejectionReason
from statements.policy import reason_to_hold_back

from .. import policy
from ..models import FACT, FactEvidence, LegacyFact
from ..policy import State, Visibility
from ..queries import same_words
from ..querysets import FactQuerySet
from .single import FactWrite, fact_under_lock, fact_write
from .telling import unshare_all

MOST_BESIDE_A_NAMED = 3
"""The most words that a fact may have beside those that name it: "the debts" are "her father's debts"."""


def fact_set_visibility(
    principal: Principal, fact_id: UUID, visibility: str, *, version: int | None = None
) -> LegacyFact:
    """Share the person's fact with the other members of the legacy, or make it private again.

    Only active facts can be shared, and only by members; sharing counts as a review. Raises NotYoursToDecide (403),
    NotFound (404), Refused (400), NotAllowed (403 ``not_a_member``), Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    policy.check_visibility(visibility)
    with fact_write(principal, fact_id, version=version) as change:
        fact = change.fact
        if visibility == fact.visibility:
            return fact
        if visibility == Visibility.SHARED:
            check_state(fact, State.ACTIVE)
            if not Member.objects.filter(legacy_id=fact.legacy_id, user_id=fact.user_id).exists():
                raise NotAllowed(_("Only a member shares facts of a legacy."), code="not_a_member")
            change.share()
            change.compare_later()
            change.log("SHARE")
        else:
            change.unshare()
            change.log("UNSHARE")
    return fact


@compares_unlocked
def fact_approve(principal: Principal, fact_id: UUID, *, version: int | None = None) -> LegacyFact:
    """Make a proposed fact active, or mark an active one as reviewed. Idempotent.

    Raises NotYoursToDecide (403), NotFound (404), Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    with fact_write(principal, fact_id, State.PROPOSED, State.ACTIVE, version=version) as change:
        fact = change.fact
        if fact.state == State.PROPOSED or fact.reviewed_at is None or _is_doubted(fact):
            approve(change)
    return fact


def _is_doubted(fact: LegacyFact) -> bool:
    return Doubt.objects.open_of(fact.user_id, "fact").filter(object_id=str(fact.pk)).exists()


def approve(change: FactWrite) -> None:
    """Approve a locked fact."""
    resemblance_lift(change)
    change.activate(reviewed=True)
    change.log("APPROVE")


def fact_reject(
    principal: Principal, fact_id: UUID, reason: str = RejectionReason.NOT_TRUE, *, version: int | None = None
) -> LegacyFact:
    """Reject a fact, and suppress its words, so that extraction can't add it again.

    With the reason ``dont_keep``, the words that it was learned from are withheld. It can be restored for 30 days.
    Raises NotYoursToDecide (403), NotFound (404), Conflict (409 ``wrong_state``).
    """
    user_id = must_decide(principal)
    refusal = RejectionReason(reason)
    states = (State.PROPOSED, State.ACTIVE, State.QUARANTINED)
    ahead = [_words_behind(fact_id)] if refusal == RejectionReason.DONT_KEEP else ()
    with (
        plan_withholding(user_id, dict(ahead)),
        fact_write(principal, fact_id, *states, version=version) as change,
    ):
        reject(change, refusal.label)
        if refusal == RejectionReason.DONT_KEEP:
            _withhold(change)
        else:
            behind = change.fact.evidence.values_list("message_id", flat=True)
            changed = ChangedStatement(FACT.name, str(fact_id), list(behind))
            doubt_dependents(change.write, user_id, changed, change.write.ledgers[user_id].rev)
    return change.fact


def reject(change: FactWrite, reason: str) -> None:
    """Reject a locked fact. ``reason`` is a sentence for its author."""
    change.leave(State.REJECTED, reason=reason)
    suppress(change)
    change.log("REJECT")
    summaries_follow([change.fact.pk])


def summaries_follow(ids: Collection[UUID]) -> None:
    """Have the summaries rewritten that may state rejected facts, in a transaction that holds the ledger locks."""
    summaries_hide(set(FactEvidence.objects.filter(fact__in=ids).values_list("message_id", flat=True)))


def fact_delete(principal: Principal, fact_id: UUID, *, version: int | None = None) -> LegacyFact:
    """Archive a fact, suppress it, and withhold the words that it was learned from. Can be restored for 30 days.

    Raises NotYoursToDecide (403), NotFound (404), Conflict (409 ``wrong_state``).
    """
    user_id = must_decide(principal)
    states = (State.PROPOSED, State.ACTIVE, State.HIDDEN, State.QUARANTINED)
    with (
        plan_withholding(user_id, dict([_words_behind(fact_id)])),
        fact_write(principal, fact_id, *states, version=version) as change,
    ):
        _delete(change)
    return change.fact


def _delete(change: FactWrite, *, withholds: bool = True) -> None:
    change.leave(State.ARCHIVED)
    suppress(change)
    change.log("DELETE")
    if withholds:
        _withhold(change)


def fact_restore(principal: Principal, fact_id: UUID) -> LegacyFact:
    """Restore a rejected or deleted fact: active, reviewed and private, without its suppression.

    A fact that staff had hidden or quarantined is hidden or quarantined again. Raises NotYoursToDecide (403), NotFound
    (404; also after the purge), Conflict (409 ``wrong_state``, ``erasure_waits``, or ``similar_exists`` if the same
    words were added since).
    """
    must_decide(principal)
    with fact_write(principal, fact_id, *GONE) as change:
        fact = change.fact
        check_kept(fact)
        must_be_no_twin(principal, fact)
        words_restore(change.write, fact.user_id, "fact", [fact.pk])
        unsuppress(change)
        change.compare_later()
        if fact.hidden_at is not None:
            change.leave(State.HIDDEN)
        elif fact.quarantined_at is not None:
            # A rejection may have replaced the gate's reason by the author's.
            change.leave(State.QUARANTINED, reason=reason_to_hold_back(fact.content))
        else:
            change.activate(reviewed=True)
        change.log("RESTORE")
    return fact


def must_be_no_twin(principal: Principal, fact: LegacyFact) -> None:
    """Raise Conflict (409 ``similar_exists``) if the person has a present fact with the same words."""
    twin = same_words(principal, fact.legacy_id, fact.content)
    if twin is not None:
        raise Conflict(_("You have this fact again already."), code="similar_exists", fact=str(twin.pk))


def _withhold(change: FactWrite) -> None:
    words_withhold(change.write, change.fact.user_id, *_words_behind(change.fact.pk))


def _words_behind(fact_id: UUID) -> tuple[Cause, list[tuple[UUID, str]]]:
    return Cause("fact", str(fact_id)), original_quotes(FactEvidence.objects.filter(fact=fact_id))


def facts_follow_refusal(write: LedgerWrite, user_id: UUID, heard: HeardRefusal) -> None:
    """Archive the facts about the legacies of conversations that a person asks in talk not to keep.

    That is facts supported only by the withheld words, and facts that the person names. If an agent relays it, those
    that the person approved or worded stay, marked as possibly out of date.
    """
    if not heard.legacies:
        return
    withheld = Withheld.objects.because_of(heard.cause.type, [heard.cause.id])
    quotes = list(withheld.filter(object_type=FactEvidence._meta.label_lower).values_list("object_id", flat=True))
    own = LegacyFact.objects.filter(user_id=user_id, legacy__in=heard.legacies, state__in=PRESENT)
    behind = FactEvidence.objects.filter(fact__in=own)
    learned = own.filter(evidence__pk__in=quotes).exclude(pk__in=behind.exclude(pk__in=quotes).values("fact"))
    named = [fact.pk for fact in own.naming(heard.named) if _is_named(fact.content, heard)]
    for fact_id in dict.fromkeys([*learned.values_list("pk", flat=True), *named]):
        with fact_under_lock(write, fact_id) as change:
            if heard.relayed_by is None or (change.fact.reviewed_at is None and change.fact.written_by):
                _delete(change)
            else:
                doubt_statement(user_id, FACT.name, str(fact_id), write.ledgers[user_id].rev)


def facts_follow_declined(
    write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], relayed_by: UUID | None
) -> None:
    """Archive and suppress the unreviewed facts learned from these messages that rest only on withheld words.

    The caller holds the ledgers of the person and of the conversations' legacies.
    """
    own = LegacyFact.objects.filter(user_id=user_id, legacy__in=list(write.ledgers), state__in=PRESENT)
    own = own.filter(reviewed_at__isnull=True).exclude(written_by="")
    behind = FactEvidence.objects.filter(fact__in=own)
    learned = own.filter(pk__in=behind.filter(message__in=message_ids).values("fact"))
    learned = learned.exclude(pk__in=behind.exclude(QUOTES_WITHHELD).values("fact"))
    for fact_id in list(learned.values_list("pk", flat=True)):
        with fact_under_lock(write, fact_id) as change:
            _delete(change, withholds=False)


def _is_named(content: str, heard: HeardRefusal) -> bool:
    more = count_extra_words(content, heard.named)
    return more is not None and (heard.whole or more <= MOST_BESIDE_A_NAMED)


def facts_follow_withholding(write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> None:
    """Make shared facts private whose evidence their author had withheld.

    Facts of a legacy whose ledger is locked by somebody else are handled by a task right after.
    """
    shared = _shared_on_withheld(message_ids).filter(user_id=user_id).order_by("legacy_id", "pk")
    # What is withheld with a fact is that fact's, which stops being shared by itself.
    for fact in shared.exclude(pk=cause.id) if cause.type == Withheld.Cause.FACT else shared:
        if not write.try_lock_ledger(fact.legacy_id):
            enqueue("facts.unshare_withheld", fact.pk)
            continue
        with fact_under_lock(write, fact.pk) as change:
            change.unshare()
            change.log("UNSHARE")


def fact_unshare_withheld(fact_id: UUID) -> None:
    """Make one such fact private, if it is still shared."""
    messages = FactEvidence.objects.filter(fact=fact_id).values("message_id")
    fact = _shared_on_withheld(messages).filter(pk=fact_id).first()
    if fact is None:
        return
    principal = principal_for_job(fact.user_id)
    with acting_as(principal), ledger_write(principal.actor, fact.user_id, fact.legacy_id) as write:
        if _shared_on_withheld(messages).filter(pk=fact_id).exists():
            with fact_under_lock(write, fact_id) as change:
                change.unshare()
                change.log("UNSHARE")


def _shared_on_withheld(messages: Any) -> FactQuerySet:
    withheld = FactEvidence.objects.filter(message__in=messages, quote=MARK).values("fact")
    return LegacyFact.objects.filter(pk__in=withheld, visibility=Visibility.SHARED)


def facts_resting_on(user_id: UUID, changed: ChangedStatement) -> Iterable[UUID]:
    """Return the ids of a person's facts that share evidence with a changed statement."""
    behind = FactEvidence.objects.filter(message__in=changed.message_ids).values("fact")
    own = LegacyFact.objects.filter(user_id=user_id, state__in=[State.PROPOSED, State.ACTIVE])
    return own.filter(pk__in=behind).values_list("pk", flat=True) if changed.message_ids else []


def member_leave(principal: Principal, legacy_id: UUID, member_id: UUID) -> None:
    """End a membership: a member leaves, or an owner removes somebody.

    The former member keeps their facts, which become private, and can't share them. Raises NotYoursToDecide (403),
    NotFound (404), NotAllowed (403) for removing others without being an owner, Conflict (409 ``last_owner``).
    """
    must_decide_for_all(principal)
    member = must_find(Member.objects.visible_to(principal).filter(pk=member_id, legacy_id=legacy_id).first(), "member")
    with ledger_write(principal.actor, member.user_id, legacy_id) as write:
        member_detach(write, principal, member)
        unshare_all(write, LegacyFact.objects.filter(user_id=member.user_id, legacy_id=legacy_id))


def facts_delete_learned(write: LedgerWrite, conversation: Conversation) -> tuple[int, int]:
    """Delete facts learned only from a conversation, in the transaction that deletes the conversation.

    The caller holds the ledgers of the person and of the conversation's legacy. Facts that the person has approved,
    edited, shared or rejected stay, as do those with evidence in other conversations. No suppressions are added.
    Returns how many facts were deleted, and how many from this conversation stay.
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
        with fact_under_lock(write, fact_id) as change:
            change.leave(State.ARCHIVED)  # Updates the legacy's counts.
        write.change(conversation.user_id, "PURGE", "fact", fact_id, old_version=version)
    erase(FACT, [fact_id for fact_id, _ in facts])
    return len(facts), stay
