"""Adding and editing facts."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import Legacy
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound
from journal.models import ActorKind, Change
from journal.verdicts import compares_unlocked
from language.tokens import count_tokens
from memories.actions import author
from statements.actions import ChangedStatement, doubt_dependents, suppress_replaced, suppression_check
from statements.policy import Admitted, admit, reason_to_hold_back
from statements.wording import Embedded

from .. import policy
from ..models import FactEvidence, FactLink, LegacyFact
from ..queries import same_words
from .single import FactWrite, fact_write, insert
from .transitions import approve as approve_fact

_REWORDED_FOR_THEM = (LegacyFact.State.ACTIVE, LegacyFact.State.PROPOSED)
_EDITED = (*_REWORDED_FOR_THEM, LegacyFact.State.QUARANTINED)


@compares_unlocked
def fact_add(
    principal: Principal,
    legacy_id: UUID,
    content: str,
    category: str,
    visibility: str = LegacyFact.Visibility.PRIVATE,
) -> LegacyFact:
    """Add a fact about a legacy, as the person or as an agent that writes for them.

    The person's own word is active and reviewed, and removes a suppression of the same words. An agent's fact is active
    and unreviewed, or proposed if the person reviews ``before`` or if it may mean something rejected; if its words are
    suppressed it is refused. Sensitive data and duplicates are refused for both. Instructions to a model are
    quarantined unless they are the person's own word. Similar and contradicting facts are linked in the background. If
    the embedder is unavailable, the vector and the checks that need it follow later.

    Raises NotFound (404; not a member), NotAllowed (403), NotYoursToDecide (403; sharing), Refused (400), Gated (422),
    Conflict (409 ``similar_exists`` with the fact's id).
    """
    policy.check_visibility(visibility)
    policy.check_category(category)
    user_id = policy.must_add(principal, visibility)
    own_word = principal.speaks_as_person
    admitted = admit(content, own_word=own_word)
    content = admitted.content
    _must_be_member(principal, legacy_id)
    text = Embedded.of(content)
    shared = visibility == LegacyFact.Visibility.SHARED  # Sharing a fact approves it.
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        _must_be_member(principal, legacy_id)
        _must_be_new(principal, legacy_id, content)
        resembles = suppression_check(write, user_id, text, own_word=own_word, principal=principal, legacy_id=legacy_id)
        fact = LegacyFact(legacy_id=legacy_id, user_id=user_id, category=category, written_by=author(principal))
        insert(
            write,
            fact,
            text.worded(principal, user_id),
            reviewed=own_word,
            proposed=not own_word and not shared and principal.review == "before",
            shared=shared,
            held_back=admitted.held_back,
            resembles=resembles,
        )
        write.result("fact", fact.pk, status_code=201 if fact.state == LegacyFact.State.ACTIVE else 202)
    return fact


@compares_unlocked
def fact_edit(
    principal: Principal,
    fact_id: UUID,
    *,
    content: str | None = None,
    category: str | None = None,
    version: int | None = None,
    approve: bool = False,
) -> LegacyFact:
    """Change the wording or category of the person's fact, as a new version. Equal values change nothing.

    The person's edit of an active fact counts as a review, and removes a suppression of the new words. ``approve`` also
    approves a waiting one. A quarantined fact becomes active when its author rewords it, unless the wording is an
    earlier one by somebody else. A service's wording passes every gate and waits as in ``fact_add``; it can't reword a
    quarantined fact. Links of the old wording are deleted, and new ones are searched in the background. ``version`` is
    the one that the caller saw. Raises NotYoursToDecide (403), NotFound (404), Refused (400), Gated (422), Conflict
    (409: ``version_conflict`` with the current one, ``wrong_state``, ``similar_exists``).
    """
    must_decide(principal)
    own_word = principal.speaks_as_person
    text, admitted = None, Admitted("")
    if category is not None:
        policy.check_category(category)
    if content is not None:
        admitted = admit(content, own_word=own_word)
        content = admitted.content
        if not LegacyFact.objects.mine(principal).filter(pk=fact_id).exists():
            raise NotFound("There is no such fact.")
        text = Embedded.of(content)
    states = _EDITED if own_word or text is None else _REWORDED_FOR_THEM
    with fact_write(principal, fact_id, *states, version=version) as change:
        fact = change.fact
        reworded = text is not None and text.content != fact.content
        if not reworded and category in {None, fact.category}:
            if approve and policy.is_waiting(fact) and fact.state != LegacyFact.State.QUARANTINED:
                approve_fact(change)
            return fact
        held_back = resembles = ""
        if text is not None and reworded:
            held_back, resembles = _reword(change, principal, text, admitted.held_back)
        fact.category = category or fact.category
        fact.version += 1
        if fact.state == LegacyFact.State.ACTIVE:
            fact.reviewed_at = change.now if own_word or not reworded else None
            if resembles or (fact.reviewed_at is None and principal.review == "before"):
                change.leave(LegacyFact.State.PROPOSED, reason=resembles)
        rev = change.log("UPDATE", old_version=fact.version - 1)
        change.add_version(rev)
        if reworded:
            behind = FactEvidence.objects.filter(fact=fact).values_list("message_id", flat=True)
            doubt_dependents(change.write, fact.user_id, ChangedStatement("fact", str(fact.pk), list(behind)), rev)
        if held_back:
            change.hold_back(held_back)
        elif approve and policy.is_waiting(fact) and fact.state != LegacyFact.State.QUARANTINED:
            approve_fact(change)
    return fact


def _reword(change: FactWrite, principal: Principal, text: Embedded, held_back: str) -> tuple[str, str]:
    """Reword a locked fact. Returns the reasons to quarantine it and to review it, each "" if there is none."""
    fact, own_word = change.fact, principal.speaks_as_person
    _must_be_new(principal, fact.legacy_id, text.content, but=fact.pk)
    resembles = suppression_check(
        change.write, fact.user_id, text, own_word=own_word, principal=principal, legacy_id=fact.legacy_id
    )
    FactLink.objects.filter(Q(from_fact=fact) | Q(to_fact=fact)).delete()
    held_back = held_back or _held_back_before(fact, text.content)
    if fact.state == LegacyFact.State.PROPOSED:
        fact.state_reason = resembles
    content = fact.content
    text.worded(principal, fact.user_id).put_on(fact)
    fact.tokens = count_tokens(fact.content)
    suppress_replaced(change, content)
    fact.written_by = _written_before(fact, text.content) or author(principal)
    change.compare_later()
    if fact.state == LegacyFact.State.QUARANTINED and not held_back:
        change.activate(reviewed=True)
    return held_back, resembles


def _written_before(fact: LegacyFact, content: str) -> str:
    """Return ``written_by`` of the first version with these words, or ""."""
    earlier = fact.versions.filter(content=content).order_by("number")
    return earlier.values_list("written_by", flat=True).first() or ""


def _held_back_before(fact: LegacyFact, content: str) -> str:
    """Return why a wording of an earlier version must be quarantined, or "".

    The reason is a gate's if an agent or extraction wrote it, or that of staff who quarantined it.
    """
    earlier = fact.versions.filter(content=content)
    reason = reason_to_hold_back(content)
    if reason and earlier.exclude(actor_kind=ActorKind.PERSON).exists():
        return reason
    by_staff = Change.objects.of_owner(fact.user_id).filter(
        object_type="fact",
        object_id=str(fact.pk),
        actor_kind=ActorKind.STAFF,
        event__in=[Change.Event.QUARANTINE, Change.Event.RESTORE],
        new_version__in=earlier.values("number"),
    )
    last = by_staff.order_by("-rev").first()
    return str(last.meta["reason"]) if last and last.event == Change.Event.QUARANTINE else ""


def _must_be_member(principal: Principal, legacy_id: UUID) -> None:
    if not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists():
        raise NotFound("There is no such legacy.")


def _must_be_new(principal: Principal, legacy_id: UUID, content: str, *, but: UUID | None = None) -> None:
    twin = same_words(principal, legacy_id, content, but=but)
    if twin is not None:
        raise Conflict(_("You have this fact already."), code="similar_exists", fact=str(twin.pk))
