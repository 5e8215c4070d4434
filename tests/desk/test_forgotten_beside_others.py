"""What the person asked to forget stands beside no other memory any more."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, messages_append
from memories.models import Memory, Relation
from tests.factories import ConversationFactory, MemoryFactory

pytestmark = pytest.mark.django_db
BLOOD = "The user's blood type is A negative."


@pytest.mark.parametrize(("relation", "stays"), [("related_to", False), ("supersedes", True)])
def test_a_forgotten_memory_is_not_shown_as_related_but_where_it_was_replaced(client, owner, relation, stays):
    forgotten, other = (
        MemoryFactory(user=owner, content=BLOOD),
        MemoryFactory(user=owner, content="The user gives blood."),
    )
    Relation.objects.all().delete()
    Relation.objects.create(user=owner, from_memory=other, to_memory=forgotten, type=relation, strength=0.9)
    client.force_login(owner)
    page = f"/memories/{other.pk}/"
    assert "A negative" in client.get(page).content.decode()
    talk = ConversationFactory(user=owner)
    said = [NewMessage("user", "Forget that my blood type is A negative.")]
    messages_append(principal_for_person(owner.pk), talk.pk, said)
    assert Memory.objects.get(pk=forgotten.pk).state == "archived"
    assert ("A negative" in client.get(page).content.decode()) is stays
