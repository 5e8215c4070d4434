"""What rests on the same words as something that is not true waits as possibly outdated, and the same is offered."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, messages_append
from journal.models import Ledger
from journal.undo import undo
from memories.models import Memory, MemoryEvidence
from statements.models import Doubt
from tests import factories
from tests.memories.rest import URL
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
SAID = "I once ran the Coburg marathon with a broken toe."


@pytest.fixture
def twins(api, owner, agent):
    """What a job learned from a message, and what an agent added with it."""
    talk = factories.ConversationFactory(user=owner, agent=agent)
    messages_append(principal_for_person(owner.pk), talk.pk, [NewMessage("user", SAID)])
    message = talk.messages.get()
    (learned,) = remember(owner, "The user once ran the Coburg marathon with a broken toe.", written_by="model")
    MemoryEvidence.objects.create(version=learned.versions.get(), message=message, quote=SAID)
    body = {"content": "The user ran the Coburg marathon with a broken toe.", "category": "event"}
    added = api(agent).post(URL, {**body, "message": str(message.pk)}, format="json")
    assert added.status_code == 201, added.content
    return learned, Memory.objects.get(pk=added.json()["id"])


def test_the_twin_waits_and_is_offered_and_undo_settles_it(api, owner, twins):
    learned, added = twins
    before = Ledger.objects.get(pk=owner.pk).rev
    answer = api(owner).post(f"{URL}{learned.pk}/reject/", {"reason": "not_true"}, format="json")
    assert [(each["object_type"], each["object"]) for each in answer.json()["also_said"]] == [("memory", added.pk)]
    assert Doubt.objects.open_of(owner.pk, "memory").values_list("object_id", flat=True).get() == added.pk
    assert Memory.objects.get(pk=added.pk).state == "active"
    undo(principal_for_person(owner.pk), before + 1, Ledger.objects.get(pk=owner.pk).rev)
    assert not Doubt.objects.exists()
