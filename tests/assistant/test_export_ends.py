"""The file of an export doesn't outlive what is erased or withheld after it was begun."""

import pytest

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from assistant.takeout import export_actions
from assistant.takeout.export_actions import export_begin, run_export
from conversations.actions import PassagePlace, passages_withhold
from journal.models import ExportPart
from tests.factories import ConversationFactory, LegacyFactFactory, MemoryFactory, MessageFactory

from .rich import exported, rows_in

pytestmark = pytest.mark.django_db
VELVET = "The user wears velvet."


@pytest.fixture
def things(owner, legacy):
    """What can be erased by scope."""
    memory, message = MemoryFactory(user=owner, content=VELVET), MessageFactory(conversation__user=owner)
    fact, talk = LegacyFactFactory(user=owner, legacy=legacy), ConversationFactory(user=owner)
    MessageFactory(conversation=talk)
    named = {"memory": memory, "fact": fact, "message": message, "conversation": talk}
    return {scope: str(thing.pk) for scope, thing in named.items()}


@pytest.mark.parametrize("scope", ["memory", "fact", "message", "conversation"])
def test_an_erasure_of_any_scope_deletes_the_file(api, owner, things, scope):
    me = principal_for_person(owner.pk)
    job = export_begin(me)
    run_export(job.pk)
    path = f"/api/v1/export/{job.pk}/"
    assert api(owner).get(path).status_code == 200
    _, erasing = erasure_request(me, scope, things[scope], grace_hours=0)
    run_erasure(erasing.pk)
    answer = api(owner).get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "expired")
    assert not ExportPart.objects.exists()


@pytest.mark.parametrize("how", ["erased", "withheld"])
def test_what_goes_while_it_is_written_is_not_in_it(monkeypatch, owner, how):
    me = principal_for_person(owner.pk)
    memory = MemoryFactory(user=owner, content=VELVET)
    message = MessageFactory(conversation__user=owner, content="I wear velvet.")
    pages_of, calls = export_actions.pages_of, []

    def meanwhile(principal):
        if not calls:
            if how == "erased":
                _, erasing = erasure_request(me, "memory", memory.pk, grace_hours=0)
                run_erasure(erasing.pk)
            else:
                passages_withhold(me, [PassagePlace(message.conversation_id, 0, "I wear velvet.")])
        calls.append(principal)
        return pages_of(principal)

    monkeypatch.setattr(export_actions, "pages_of", meanwhile)
    rows = rows_in(exported(owner))
    assert len(calls) == 2
    found = rows["memories"] if how == "erased" else rows["messages"]
    assert "velvet" not in str(found)
