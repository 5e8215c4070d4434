"""What rests on something that has changed waits for the person as perhaps out of date, and is changed by nobody."""

import pytest

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from conversations.actions import NewMessage, messages_append
from conversations.models import Message
from desk.history import what_changed
from desk.review.queue import QueueQuery
from facts.actions import fact_reject, facts_decide
from facts.models import FactEvidence, LegacyFact
from journal.models import Change
from journal.undo import undo
from memories.actions import memories_decide, memory_reject, memory_update
from memories.models import MEMORY, Memory, MemoryEvidence, MemoryVersion, Relation
from statements.actions import erase
from statements.models import Doubt, RejectionReason
from tests import factories
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def resting(owner, legacy):
    """A memory, and what rests on it or on its words: a merged memory, one and a fact of the same message, its heir."""
    message = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner, legacy=legacy))
    names = ("source", "merged", "heir", "beside", "apart")
    rows = dict(zip(names, remember(owner, *(f"The user has {name} rows." for name in names)), strict=True))
    Memory.objects.filter(user=owner).update(reviewed_at=message.at)
    for name in ("source", "beside"):
        version = MemoryVersion.objects.get(memory=rows[name])
        MemoryEvidence.objects.create(version=version, message=message, quote=message.content)
    for name, relation in (("merged", "derived_from"), ("heir", "supersedes"), ("apart", "related_to")):
        ends = {"from_memory": rows[name], "to_memory": rows["source"]}
        Relation.objects.create(user=owner, type=relation, strength=1, **ends)
    fact = factories.LegacyFactFactory(legacy=legacy, user=owner)
    LegacyFact.objects.filter(pk=fact.pk).update(reviewed_at=message.at)
    FactEvidence.objects.create(fact=fact, message=message, quote=message.content)
    return {**rows, "fact": fact}


def waiting(owner, resting):
    principal = principal_for_person(owner.pk)
    keys = {f"memory-{row.pk}" if name != "fact" else f"fact-{row.pk}": name for name, row in resting.items()}
    found, at = [], QueueQuery()
    while (place := at.place(principal)).item is not None:
        found.append(keys[place.item.key])
        at = at.at(place.later)
    return sorted(found)


def test_a_correction_puts_in_doubt_what_rests_on_it_and_changes_nothing(owner, resting):
    me = principal_for_person(owner.pk)
    before = {row.pk: row.content for row in Memory.objects.exclude(pk=resting["source"].pk)}
    memory_update(me, resting["source"].pk, "The user has columns.", correction=True)
    assert waiting(owner, resting) == ["beside", "fact", "heir", "merged"]
    assert {row.pk: row.content for row in Memory.objects.exclude(pk=resting["source"].pk)} == before
    (other,) = what_changed(me, "memory", resting["merged"].pk)
    assert (other.what, other.content) == ("Corrected", "You have columns.")
    assert any(piece.kind != "same" for piece in other.pieces)


def test_a_change_of_what_was_true_before_puts_nothing_in_doubt(owner, resting):
    memory_update(principal_for_person(owner.pk), resting["source"].pk, "The user has columns.")
    assert waiting(owner, resting) == []


def test_what_rests_on_withheld_words_waits_and_what_was_made_of_them_is_gone(owner, resting):
    me = principal_for_person(owner.pk)
    memory_reject(me, resting["source"].pk, RejectionReason.DONT_KEEP)
    assert waiting(owner, resting) == ["beside", "fact", "heir"]
    (other,) = what_changed(me, "fact", str(resting["fact"].pk))
    assert other.what == "Withheld"


def test_whatever_the_person_decides_settles_it(owner, resting):
    me = principal_for_person(owner.pk)
    memory_update(me, resting["source"].pk, "The user has columns.", correction=True)
    assert memories_decide(me, {resting["merged"].pk: None}, "approve").done == 1
    assert memories_decide(me, {resting["merged"].pk: None}, "approve").skipped == {"nothing_to_do": 1}
    memory_reject(me, resting["heir"].pk)
    memory_update(me, resting["beside"].pk, "The user has no rows.")
    assert facts_decide(me, {resting["fact"].pk: None}, "approve").done == 1
    assert waiting(owner, resting) == []
    memory_update(me, resting["source"].pk, "The user has arches.", correction=True)
    assert waiting(owner, resting) == ["beside", "fact", "merged"]


def test_the_queue_shows_it_beside_what_changed(client, owner, resting):
    me = principal_for_person(owner.pk)
    client.force_login(owner)
    memory_update(me, resting["source"].pk, "The user has columns.", correction=True)
    for name, kind in (("merged", "memory"), ("fact", "fact")):
        page = client.get(f"/review/?item={kind}-{resting[name].pk}").content.decode()
        assert "It may be out of date" in page
        assert "You have columns." in page
        assert ">Approve<" in page
    erase(MEMORY, [resting["source"].pk, resting["beside"].pk])
    assert Doubt.objects.count() == 3
    assert "Not there any more" in client.get(f"/review/?item=memory-{resting['merged'].pk}").content.decode()
    assert Message.objects.count() == 1


def test_what_rests_on_something_erased_waits_too(client, owner, resting):
    erasure, job = erasure_request(principal_for_person(owner.pk), "memory", resting["source"].pk)
    run_erasure(job.pk)
    erasure.refresh_from_db()
    assert erasure.state == "done"
    left = {name: row for name, row in resting.items() if name not in {"source", "merged"}}
    assert waiting(owner, left) == ["beside", "fact", "heir"]
    client.force_login(owner)
    page = client.get(f"/review/?item=memory-{resting['heir'].pk}").content.decode()
    assert "Erased" in page


def test_a_doubt_goes_when_its_cause_is_undone(owner, resting):
    me = principal_for_person(owner.pk)
    memory_update(me, resting["heir"].pk, "The user has other heirs.", correction=True)
    memory_reject(principal_for_person(owner.pk), resting["source"].pk, RejectionReason.DONT_KEEP)
    last = Change.objects.filter(ledger_id=owner.pk, event="REJECT").get()
    assert waiting(owner, resting) == ["beside", "fact", "heir"]
    undo(principal_for_person(owner.pk), last.rev, last.rev)
    assert waiting(owner, resting) == []


def test_what_was_denied_since_in_the_same_talk_stands_beside_the_denial_alone(client, owner, legacy, told, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    (first,) = told(owner, legacy, "Rosa was born in Mechelen.")
    talk = first.source_conversation_id
    me = principal_for_person(owner.pk)
    messages_append(me, talk, [NewMessage("user", "Rosa was born in Turnhout.")])
    conversation_finish(me, talk)
    assert maybe_summarize(talk) == 1
    second = LegacyFact.objects.exclude(pk=first.pk).get()
    (other,) = what_changed(me, "fact", str(first.pk))
    assert (other.what, other.content) == ("Said since", second.content)
    client.force_login(owner)
    page = client.get(f"/review/?item=fact-{first.pk}").content.decode()
    assert page.count(f'href="/facts/{second.pk}/"') == 1
    assert "That one" in page
    assert "Withheld" not in page
    fact_reject(me, second.pk)
    (other,) = what_changed(me, "fact", str(first.pk))
    assert other.what == "Not there any more"
