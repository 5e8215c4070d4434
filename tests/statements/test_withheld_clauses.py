"""A statement that says a part of a withheld sentence waits for the person, as the whole sentence does."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, PassagePlace, conversation_create, messages_append, passages_withhold
from tests.memories.rest import URL

pytestmark = pytest.mark.django_db
PREGNANT = "I'm three months pregnant, and nobody in my family knows it yet."
EPILEPSY = "I was diagnosed with epilepsy in March and I hide it from my boss."
OLE = "My son Ole was expelled from school for selling drugs."
JANA = "My sister Jana had an abortion last winter."

PRISON = "My uncle Otto went to prison for fraud in 1998."


@pytest.mark.parametrize(
    ("said", "stated", "status"),
    [
        (PREGNANT, "The user is three months pregnant.", 202),
        (EPILEPSY, "The user was diagnosed with epilepsy in March.", 202),
        (EPILEPSY, "The user hides epilepsy from the boss.", 202),
        (OLE, "The user's son Ole was expelled from school.", 202),
        (JANA, "Jana had an abortion.", 202),
        (JANA, "The user's sister Jana had an abortion.", 202),
        (PRISON, "The user's uncle Otto was in prison.", 202),
        (JANA, "The user's sister is Jana.", 201),
        (OLE, "The user's son is called Ole.", 201),
        (OLE, "The user's son Ole goes to school.", 201),
        (OLE, "The user's daughter Mia likes school.", 201),
        (JANA, "The user likes the winter.", 201),
        (EPILEPSY, "The user was born in March.", 201),
    ],
)
def test_an_agents_statement(api, owner, agent, said, stated, status):
    me = principal_for_person(owner.pk)
    talk = conversation_create(me)
    messages_append(me, talk.pk, [NewMessage("user", said)])
    passages_withhold(me, [PassagePlace(talk.pk, 0, said)])
    assert api(agent).post(URL, {"content": stated, "category": "context"}).status_code == status
