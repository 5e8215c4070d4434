from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from conversations.actions import NewMessage, messages_append, messages_index
from conversations.models import Message
from conversations.policy import heading, passage
from language.backends import get_embedder
from tests import factories
from tests.retrieval.rows import principal

SAID = datetime(2023, 5, 8, 23, 30, tzinfo=timezone(timedelta(hours=-2)))


def test_a_heading_says_who_and_when():
    assert heading("Rosa", SAID) == "9 May 2023, Rosa"
    assert heading("", SAID) == "9 May 2023"
    assert passage("Hello.", "Rosa", SAID) == "9 May 2023, Rosa: Hello."


@pytest.mark.django_db
def test_a_message_is_found_by_who_said_it_and_when(owner):
    conversation = factories.ConversationFactory(user=owner)
    new = NewMessage("user", "Wir haben heute im Garten gearbeitet.", "Rosa", SAID.astimezone(UTC))
    messages_append(principal(owner), conversation.pk, [new])
    messages_index(conversation.pk)
    message = Message.objects.get()
    assert message.search_text == "9 may 2023 rosa wir haben heute im garten gearbeitet"
    assert message.search_config == "german"
    (vector,) = get_embedder().embed_passages([passage(new.content, "Rosa", SAID)])
    assert np.allclose(np.array(message.embedding), vector, atol=1e-3)
