"""``/memory`` typed to the assistant: answered at once and without a model, and neither it nor its answer is saved.

Scenarios 5 and 6 of source 001, where the person talks.
"""

import io

import pytest
from django.core.management import call_command
from django.utils import translation
from django.utils.translation import gettext

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.models import Reply
from conversations.models import Message
from memories.models import Memory
from tests import factories
from tests.conftest import with_key

from .replying import address, behind, named, read, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["offline", "with a model"])
def model(request, settings, server):
    """The server of a model, which is to be asked nothing; None for none."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    if request.param == "offline":
        return None
    behind(settings, server)
    return server


@pytest.fixture
def alec(owner):
    return factories.MemoryFactory(user=owner, content="Alec is the user's boss.", category="person", subject="Alec")


def typed(client, conversation, content, **headers):
    answer = client.post(address(conversation), {"content": content}, **headers)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/event-stream"), answer.content
    return read(answer.content)


def test_the_list_is_told_as_a_stream_and_nothing_is_saved(api, owner, model, conversation, alec):
    told = typed(api(owner), conversation, "/memory")
    assert [name for _, name, _ in told] == ["command", "token", "done"]
    assert text_of(told).splitlines()[:4] == ["Your memories:", "", "Person", f"• [{alec.pk}] Alec is your boss."]
    [command], [done] = named(told, "command"), named(told, "done")
    assert (command["command"], [each["id"] for each in command["memories"]]) == ("list", [alec.pk])
    assert (done["state"], done["index"], done["rounds"]) == ("done", None, 0)
    assert not Message.objects.exists()
    assert not Reply.objects.exists()
    assert model is None or model.requests == []


def test_one_is_deleted_and_brought_back(api, owner, model, conversation, alec):
    client = api(owner)
    told = typed(client, conversation, f"/memory delete {alec.pk}")
    assert text_of(told).startswith("Deleted: 'Alec is your boss.'")
    assert Memory.objects.get().state == "archived"
    assert text_of(typed(client, conversation, f" /memory  restore [id:{alec.pk}]")).startswith("Restored: 'Alec")
    assert Memory.objects.get().state == "active"
    assert not Message.objects.exists()
    assert model is None or model.requests == []


def test_a_repeated_request_is_told_what_came_of_the_first(api, owner, conversation, alec):
    client, once = api(owner), {"HTTP_IDEMPOTENCY_KEY": "once"}
    first, second = (typed(client, conversation, f"/memory delete {alec.pk}", **once) for _ in range(2))
    assert text_of(first) == text_of(second)
    assert named(second, "command")[0]["outcome"] == "archived"


@pytest.mark.parametrize(
    ("content", "status", "told"),
    [("/memory delete zzzzzzzz", 404, "There is no memory zzzzzzzz."), ("/memory list 7", 400, "There is no page 7")],
)
def test_what_can_not_be_done_is_told(api, owner, conversation, alec, content, status, told):
    answer = api(owner).post(address(conversation), {"content": content})
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True)


def test_it_is_no_way_into_what_is_not_ones_own(api, owner, stranger, conversation, alec):
    assert api(stranger).post(address(conversation), {"content": "/memory"}).status_code == 404
    planner = with_key(factories.AgentFactory(owner=owner, role="planner"))
    factories.MemoryFactory(user=owner, content="The user wears green velvet.", category="style")
    theirs = factories.ConversationFactory(user=owner, agent=planner)
    assert "velvet" not in text_of(typed(api(planner), theirs, "/memory"))
    off = api(planner).post(address(theirs), {"content": "/memory", "has_memory": False})
    assert "Memory is switched off" in text_of(read(off.content))


def test_in_the_terminal(owner, alec, monkeypatch):
    typed = f"/memory\n/memory delete {alec.pk}\n/memory delete zzzzzzzz\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    told, refused = io.StringIO(), io.StringIO()
    call_command("chat", as_user="owner", stdout=told, stderr=refused)
    assert f"• [{alec.pk}] Alec is your boss." in told.getvalue()
    assert "Deleted: 'Alec is your boss.'" in told.getvalue()
    assert "There is no memory zzzzzzzz." in refused.getvalue()
    assert not Message.objects.exists()


def test_it_is_answered_in_the_language_that_the_person_chose(api, owner, conversation):
    factories.MemoryFactory(user=owner, content="The user prefers Thursday due dates.", category="preference")
    preferences_set(principal_for_person(owner.pk), language="de")
    with translation.override("de"):
        heading = gettext("Preference")
    assert heading in text_of(typed(api(owner), conversation, "/memory")).splitlines()
    assert heading != "Preference"


def test_in_the_terminal_it_is_in_the_language_that_the_person_chose(owner, monkeypatch):
    preferences_set(principal_for_person(owner.pk), language="de")
    monkeypatch.setattr("sys.stdin", io.StringIO("/memory\n/memory delete zzzzzzzz\n"))
    told, refused = io.StringIO(), io.StringIO()
    call_command("chat", as_user="owner", stdout=told, stderr=refused)
    assert "Über dich ist noch nichts gemerkt." in told.getvalue()
    assert "Es gibt keine Erinnerung zzzzzzzz." in refused.getvalue()
