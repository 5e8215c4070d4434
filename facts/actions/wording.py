"""Putting a fact into words: adding one by hand, and editing one."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from accounts.models import Agent, Legacy
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import Conflict, Gated, NotFound
from journal.models import ActorKind, Change
from memories.actions import tombstone_lift
from memories.models import Tombstone
from memories.policy import Admitted, admit, reason_to_hold_back
from memories.wording import Wording, embed

from .. import policy
from ..models import FactLink, LegacyFact
from ..queries import same_words
from .deciding import approve as approve_fact
from .single import fact_write, insert

_EDITED = (LegacyFact.State.ACTIVE, LegacyFact.State.PROPOSED, LegacyFact.State.QUARANTINED)


def fact_add(
    principal: Principal,
    legacy_id: UUID,
    content: str,
    category: str,
    visibility: str = LegacyFact.Visibility.PRIVATE,
) -> LegacyFact:
    """Add a fact about a legacy, as the person or as an agent that writes for them.

    The person's own word is active and reviewed, and lifts a tombstone of the same words. An agent's is active and
    waits for review, or proposed when the person reviews before; what the person rejected is refused. Sensitive data is
    refused to both; text that is aimed at a model is quarantined unless it is the person's own wording. The same words
    are refused to both; a similar or contradicting fact is linked soon after. With the embedder away the vector comes
    later, and what needs it.

    Raises NotFound (no member), NotAllowed, NotYoursToDecide (sharing), Refused (400), Gated (422), Conflict (409,
    ``similar_exists`` with the fact's id).
    """
    policy.check_visibility(visibility)
    policy.check_category(category)
    user_id = policy.must_add(principal, visibility)
    admitted = admit(content, own_word=policy.is_own_wording(principal))
    content, own_word = admitted.content, policy.is_own_word(principal) and not admitted.held_back
    _must_be_member(principal, legacy_id)
    vector, model = embed(content)
    wording = Wording.of(principal, user_id, content, vector, model)
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        _must_be_member(principal, legacy_id)
        _must_be_new(principal, legacy_id, content)
        if own_word:
            tombstone_lift(write, user_id=user_id, legacy_id=legacy_id, texts=[content])
        else:
            _must_be_welcome(user_id, legacy_id, wording)
        fact = LegacyFact(
            legacy_id=legacy_id, user_id=user_id, category=category, written_by="" if own_word else _author(principal)
        )
        insert(
            write,
            fact,
            wording,
            reviewed=own_word,
            proposed=not own_word and principal.review == "before",
            shared=visibility == LegacyFact.Visibility.SHARED,
            held_back=admitted.held_back,
        )
        write.result("fact", fact.pk, status_code=201 if fact.state == LegacyFact.State.ACTIVE else 202)
    return fact


def fact_edit(
    principal: Principal,
    fact_id: UUID,
    *,
    content: str | None = None,
    category: str | None = None,
    version: int | None = None,
    approve: bool = False,
) -> LegacyFact:
    """Give the person's fact another wording or category, as a new version; what is the same already changes nothing.

    Whoever edits an active fact has reviewed it; ``approve`` makes a proposed one count as well. A fact that is held
    back counts again when its author rewords it; going back to what somebody else wrote holds it back again. Links fall
    with the wording they were about and are sought anew. ``version`` is the one the caller saw. Raises
    NotYoursToDecide, NotFound, Refused (400), Gated (422), Conflict (409: ``version_conflict`` with the current
    one, ``wrong_state``, ``similar_exists``).
    """
    user_id = must_decide(principal)
    wording, admitted = None, Admitted("")
    if category is not None:
        policy.check_category(category)
    if content is not None:
        admitted = admit(content, own_word=policy.is_own_wording(principal))
        content = admitted.content
        if not LegacyFact.objects.mine(principal).filter(pk=fact_id).exists():
            raise NotFound("There is no such fact.")
        wording = Wording.of(principal, user_id, content, *embed(content))
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        fact = change.fact
        policy.check_version(fact, version)
        policy.check_state(fact, *_EDITED)
        reworded = wording is not None and wording.content != fact.content
        if not reworded and category in {None, fact.category}:
            if approve and policy.is_waiting(fact) and fact.state != LegacyFact.State.QUARANTINED:
                approve_fact(change)
            return fact
        held_back = ""
        if wording is not None and reworded:
            _must_be_new(principal, fact.legacy_id, wording.content, but=fact.pk)
            tombstone_lift(change.write, user_id=user_id, legacy_id=fact.legacy_id, texts=[wording.content])
            FactLink.objects.filter(Q(from_fact=fact) | Q(to_fact=fact)).delete()
            held_back = admitted.held_back or _held_back_before(fact, wording.content)
            wording.put_on(fact)
            fact.written_by = _written_before(fact, wording.content)
            change.compare_later()
            if fact.state == LegacyFact.State.QUARANTINED and not held_back:
                change.activate(reviewed=True)
        fact.category = category or fact.category
        fact.version += 1
        if fact.state == LegacyFact.State.ACTIVE:
            fact.reviewed_at = change.now
        change.add_version()
        change.log("UPDATE", old_version=fact.version - 1)
        if held_back:
            change.hold_back(held_back)
        elif approve and policy.is_waiting(fact) and fact.state != LegacyFact.State.QUARANTINED:
            approve_fact(change)
    return fact


def _written_before(fact: LegacyFact, content: str) -> str:
    """Who wrote the words first, when the fact has had them before; else empty: they are its author's own."""
    earlier = fact.versions.filter(content=content).order_by("number")
    return earlier.values_list("written_by", flat=True).first() or ""


def _held_back_before(fact: LegacyFact, content: str) -> str:
    """Why an earlier wording is held back: an agent or extraction wrote it, or staff held it back.

    Bringing it back makes it nobody's own.
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
        raise Conflict("You have this fact already.", code="similar_exists", fact=str(twin.pk))


def _must_be_welcome(user_id: UUID, legacy_id: UUID, wording: Wording) -> None:
    """Refuse an agent's statement that the person rejected or deleted, in these or in similar words."""
    statement = (wording.content, wording.embedding)
    if any(Tombstone.objects.matching(user_id, legacy_id, [statement], wording.embedding_model)):
        raise Gated("The person rejected or deleted this fact. Only they can bring it back.", code="rejected_before")


def _author(principal: Principal) -> str:
    """What is shown as the writer of an agent's wording."""
    return Agent.objects.values_list("name", flat=True).get(pk=str(principal.agent_id))[:80]
