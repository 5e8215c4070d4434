"""Conversations for staff: no page shows what was said, and opening it is told to its person."""

import io
import json
from types import SimpleNamespace

import pytest

from accounts.queries import principal_for_person, principal_for_staff
from assistant.imports.actions import import_create
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from conversations import actions
from conversations.models import Conversation, ConversationChunk, ConversationImport, ImportPart, Message
from journal.exceptions import NotAllowed, NotFound, Refused
from journal.models import Change, JobRun
from tests import factories
from tests.conftest import taken_back

from .exports import chatgpt_talk

NOBODY = "00000000-0000-4000-8000-000000000000"
KINDS = ["message", "conversationchunk"]


@pytest.fixture
def desk(moderator, client):
    client.force_login(moderator)
    return client


@pytest.fixture(scope="module")
def told(django_db_setup, django_db_blocker):
    """An ``owner`` and a ``member`` of a ``legacy``, and the ``talk``, made once; each test takes back its changes."""
    with django_db_blocker.unblock(), taken_back():
        owner, member = (factories.UserFactory(username=name) for name in ("owner", "member"))
        legacy = factories.LegacyFactory(name="Grandmother Rosa", owner=owner, members=[member])
        yield SimpleNamespace(owner=owner, member=member, legacy=legacy, talk=private_talk(owner, legacy))


@pytest.fixture
def owner(told, db):
    return told.owner


@pytest.fixture
def member(told, db):
    return told.member


@pytest.fixture
def legacy(told, db):
    return told.legacy


@pytest.fixture
def talk(told, db):
    return told.talk


def private_talk(owner, legacy):
    """A private conversation with a title, two messages and a summary."""
    principal = principal_for_person(owner.pk)
    conversation = actions.conversation_create(principal, legacy_id=legacy.pk, title="Cigars")
    said = [actions.NewMessage("user", f"Rosa smoked {number} cigars.", speaker="Olga") for number in (1, 2)]
    actions.messages_append(principal, conversation.pk, said)
    conversation_finish(principal, conversation.pk)
    assert maybe_summarize(conversation.pk) == 1
    for model in (Conversation, Message, ConversationChunk):  # Private ones are not summed up, so it becomes so now.
        model.objects.update(private=True)
    return conversation


def listed(model):
    return f"/admin/conversations/{model}/"


def row(kind):
    return (Message if kind == "message" else ConversationChunk).objects.first()


def press(client, kind, pk, **data):
    return client.post(f"{listed(kind)}{pk}/open/", {"_form_submitted": "True", **data})


@pytest.mark.parametrize("search", ["", "owner", "Rosa", "{talk}", "{legacy}"])
@pytest.mark.parametrize("model", ["conversation", *KINDS])
def test_lists_find_rows_and_show_no_text(desk, talk, legacy, model, search):
    answer = desk.get(listed(model), {"q": search.format(talk=talk.pk, legacy=legacy.pk)})
    page = answer.content.decode()
    assert str(talk.pk) in page
    assert not any(word in page for word in ("smoked", "Cigars", "cigars"))


@pytest.mark.parametrize("search", ["smoked", "Cigars", NOBODY])
@pytest.mark.parametrize("model", ["conversation", *KINDS])
def test_what_was_said_is_not_searched(desk, talk, model, search):
    assert not desk.get(listed(model), {"q": search}).context["cl"].result_list


@pytest.mark.parametrize("model", ["conversation", *KINDS])
def test_pages_show_no_text_and_nothing_is_edited(desk, talk, model):
    pk = talk.pk if model == "conversation" else row(model).pk
    page = desk.get(f"{listed(model)}{pk}/change/").content.decode()
    assert str(talk.pk) in page
    assert not any(word in page for word in ("smoked", "Cigars", "cigars"))
    assert desk.post(f"{listed(model)}{pk}/change/", {}).status_code == 403


@pytest.mark.parametrize("kind", KINDS)
def test_opening_shows_the_text_once_and_its_person_can_read_why(desk, moderator, talk, owner, kind):
    text = row(kind)
    answer = press(desk, kind, text.pk, reason="A complaint")
    assert text.content in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    change = Change.objects.of_owner(owner.pk).last()
    assert (change.event, change.object_id, change.conversation_id) == ("OPEN", str(text.pk), talk.pk)
    assert (change.object_type, change.meta) == (kind.removeprefix("conversation"), {"reason": "A complaint"})
    assert (change.actor_kind, change.actor_id) == ("staff", str(moderator.pk))
    page = desk.get(f"/admin/journal/change/{change.pk}/change/").content.decode()
    assert "A complaint" in page
    assert "smoked" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_reason_nothing_opens(desk, talk, owner, kind):
    rev = factories.rev_of(owner)
    for answer in (press(desk, kind, row(kind).pk, reason=" "), desk.get(f"{listed(kind)}{row(kind).pk}/open/")):
        assert "smoked" not in answer.content.decode()
    assert press(desk, kind, NOBODY, reason="look").status_code == 404
    assert factories.rev_of(owner) == rev


def test_a_message_that_goes_meanwhile_is_told(desk, talk, monkeypatch):
    def gone(*args):
        raise NotFound("There is no such message.")

    monkeypatch.setattr("conversations.admin.actions.message_open", gone)
    press(desk, "message", row("message").pk, reason="look")
    assert "There is no such message." in desk.get(listed("message")).content.decode()


@pytest.mark.parametrize(
    ("act", "kind"), [(actions.message_open, "message"), (actions.chunk_open, "conversationchunk")]
)
def test_only_staff_open_whatever_calls_the_action(talk, staff, owner, member, act, kind):
    rev = factories.rev_of(owner)
    for person in (owner, member):
        with pytest.raises(NotAllowed):
            act(principal_for_person(person.pk), row(kind).pk, "mine")
    with pytest.raises(Refused):
        act(principal_for_staff(staff), row(kind).pk, "")
    with pytest.raises(NotFound):
        act(principal_for_staff(staff), NOBODY, "look")
    assert factories.rev_of(owner) == rev


@pytest.mark.parametrize("model", ["conversation", "conversationimport", "importpart", *KINDS])
def test_lists_take_five_queries_however_long(desk, talk, owner, model, django_assert_num_queries):
    factories.MessageFactory.create_batch(3, conversation__user=owner)
    for number in range(3):
        upload = ConversationImport.objects.create(user=owner, form="jsonl", size=1, digest="", state="done")
        ImportPart.objects.create(upload=upload, file=0, number=number, data=b"")
    with django_assert_num_queries(5):
        desk.get(listed(model))


def test_a_conversation_says_how_far_it_is_summarised(desk, owner, legacy):
    Conversation.objects.create(user=owner, legacy=legacy, message_count=8, summarized_upto=5)
    assert 'value="5" max="8"' in desk.get(listed("conversation")).content.decode()


def test_imports_show_neither_names_nor_remarks_nor_what_was_uploaded(desk, owner, legacy):
    principal = principal_for_person(owner.pk)
    content = json.dumps([chatgpt_talk("She smoked cigars.")]).encode()
    upload, _ = import_create(
        principal, io.BytesIO(content), file_name="cigars.json", title="Cigars", legacy_id=legacy.pk
    )
    ConversationImport.objects.update(notes=["cigars"], error="cigars")
    part = ImportPart.objects.get()
    for search in ("", "owner", "Rosa", str(upload.pk)):
        for path in ("conversationimport/", "importpart/"):
            page = desk.get(f"/admin/conversations/{path}", {"q": search}).content.decode()
            assert str(upload.pk) in page
            assert "igars" not in page
    for path in (f"conversationimport/{upload.pk}/change/", f"importpart/{part.pk}/change/"):
        answer = desk.get(f"/admin/conversations/{path}")
        assert answer.status_code == 200
        assert "igars" not in answer.content.decode()


def test_an_import_shows_how_far_it_is_and_nothing_of_its_file(desk, owner, legacy):
    upload = ConversationImport.objects.create(
        user=owner,
        legacy=legacy,
        title="Letters about cigars",
        file_name="cigars.json",
        form="chatgpt",
        size=2048,
        digest="d" * 64,
        state="failed",
        survey={"conversations": 12},
        notes=["cigars"],
        error="cigars",
    )
    part = ImportPart.objects.create(upload=upload, file=0, number=1, data=b"cigars")
    JobRun.objects.create(kind="import", subject_id=str(upload.pk), user_id=owner.pk)
    for path, found in [
        (f"{listed('conversationimport')}?q=owner", upload.pk),
        (f"{listed('conversationimport')}{upload.pk}/change/", "12"),
        (f"{listed('importpart')}?q=Rosa", upload.pk),
        (f"{listed('importpart')}{part.pk}/change/", upload.pk),
        ("/admin/journal/jobrun/", f"/admin/conversations/conversationimport/{upload.pk}/change/"),
    ]:
        page = desk.get(path).content.decode()
        assert str(found) in page
        assert "cigars" not in page
