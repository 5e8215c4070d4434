"""Bringing one's own history in, page by page."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import escape

from accounts.queries import principal_for_person
from assistant.imports.actions import import_create
from assistant.imports.run import run_import
from conversations.models import Conversation, ConversationImport, ImportPart, Message
from facts.models import LegacyFact
from journal.leases import retry_job_later
from journal.models import JobRun
from memories.models import MemoryEvidence, MemoryVersion
from tests.conversations.exports import chatgpt_conversation, chatgpt_message, chatgpt_talk, chatgpt_zip, claude_talk
from tests.factories import LegacyFactFactory, MemoryFactory, PreferencesFactory

from .conftest import text

IMPORT_QUERIES = 10
IMPORTS_QUERIES = 6
BEES = ("Grandmother Rosa kept bees.", "How lovely!", "She was a midwife.", "I see.")


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_MODEL = "offline"


def sent(content, name="export.zip", **fields):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    return {"file": SimpleUploadedFile(name, content), **fields}


def work():
    """What a worker does, until there is nothing left to do."""
    while job := JobRun.objects.filter(kind__in=["import", "import_undo"], state="waiting").first():
        run_import(job.pk)


@pytest.fixture
def brought(owner, legacy):
    """An import of the owner's that has ended."""
    content = io.BytesIO(chatgpt_zip(chatgpt_talk(*BEES)))
    upload, _ = import_create(principal_for_person(owner.pk), content, file_name="export.zip", legacy_id=legacy.pk)
    work()
    upload.refresh_from_db()
    return upload


def test_an_export_is_sent_imported_and_its_facts_are_reviewed(visit, owner, legacy):
    client = visit(owner)
    page = client.get("/import/")
    assert "Grandmother Rosa" in text(page)
    answer = client.post("/import/", sent(chatgpt_zip(chatgpt_talk(*BEES)), legacy=str(legacy.pk), title="Before 2025"))
    upload = ConversationImport.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/import/{upload.pk}/")
    page = text(client.get(answer.url))
    assert "Waiting to start" in page
    assert "Cancel this import" in page
    assert '<noscript><meta http-equiv="refresh"' in page
    work()
    page = text(client.get(answer.url))
    assert "Imported" in page
    assert f'href="/review/?legacy={legacy.pk}"' in page
    assert "2 of them wait for your review" in page
    assert f"Review what waits about {legacy.name}" in page
    assert "http-equiv" not in page
    assert "Before 2025" in text(client.get("/import/"))
    assert not ImportPart.objects.exists()


def test_without_a_legacy_no_facts_are_collected(visit, owner):
    client = visit(owner)
    address = client.post("/import/", sent([claude_talk(*BEES)], "conversations.json")).url
    work()
    page = text(client.get(address))
    assert "about nobody in particular, so no facts are collected" in page
    assert "facts found" not in page
    assert not LegacyFact.objects.exists()


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({}, 400, "Choose a file."),
        (sent(b"", "empty.json"), 400, "This file is empty."),
        (sent(b"hello", "notes.txt"), 400, "This file can&#x27;t be imported: it is neither a zip archive nor JSON"),
        (sent([chatgpt_talk("A")], legacy="x"), 400, "Select a valid choice."),
        (sent([chatgpt_talk("A")], form="locomo"), 400, "Select a valid choice."),
        (sent([chatgpt_talk("A")], title="t" * 201), 400, "Ensure this value has at most 200 characters"),
        (sent([{"sample_id": "x"}]), 400, "is a LoCoMo dataset, which is imported by manage.py"),
    ],
)
def test_what_can_t_be_imported_is_told_beside_the_field(visit, owner, fields, status, told):
    answer = visit(owner).post("/import/", fields)
    assert answer.status_code == status
    assert told in text(answer)
    assert not ConversationImport.objects.exists()


def test_a_file_that_is_too_large_is_refused(visit, owner, settings):
    settings.IMPORT_MAX_BYTES = 1_000
    settings.MAX_BODY_BYTES = 100_000
    answer = visit(owner).post("/import/", sent(b"[" + b" " * 5_000))
    assert (answer.status_code, "larger than 0 MB" in text(answer)) == (413, True)
    answer = visit(owner).post("/import/", sent(b"[" + b" " * 200_000))
    assert answer.status_code == 413
    assert "The body is larger than" in text(answer)
    # Nobody in particular may send no more than a form.
    assert visit().post("/import/", sent(b"[" + b" " * 100_500)).status_code == 413
    assert visit().post("/import/", sent(b"[]")).url.startswith("/sign-in/")


def test_the_form_needs_its_token(owner):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post("/import/", sent([chatgpt_talk("A")])).status_code == 403
    assert not ConversationImport.objects.exists()


def test_a_bad_file_is_told_with_the_place_and_nothing_came_in(visit, owner):
    client = visit(owner)
    bad = chatgpt_talk("A", name="two")
    bad["mapping"]["n0"]["parent"] = 5
    address = client.post("/import/", sent([chatgpt_talk("A"), bad], "conversations.json")).url
    work()
    page = text(client.get(address))
    assert "Could not be imported" in page
    assert "conversations.json, conversation 2.mapping.n0.parent: is no text" in page
    assert "Nothing was imported." in page
    assert not Conversation.objects.exists()
    assert not ImportPart.objects.exists()


def test_one_import_at_a_time(visit, owner):
    client = visit(owner)
    client.post("/import/", sent([chatgpt_talk("A")]))
    answer = client.post("/import/", sent([chatgpt_talk("B")]))
    assert (answer.status_code, "Another import is under way" in text(answer)) == (409, True)
    assert ConversationImport.objects.count() == 1


def test_cancelling(visit, owner):
    client = visit(owner)
    address = client.post("/import/", sent([chatgpt_talk("A")])).url
    assert client.post(f"{address}cancel/").url == address
    page = text(client.get(address))
    assert "Cancelled" in page
    assert "Cancel this import" not in page
    assert not ImportPart.objects.exists()
    work()
    assert not Conversation.objects.exists()
    assert "can&#x27;t be cancelled any more" in text(client.post(f"{address}cancel/", follow=True))


def test_taking_back(visit, owner, brought):
    client = visit(owner)
    address = f"/import/{brought.pk}/"
    assert "Undo the import" in text(client.get(address))
    assert client.post(f"{address}undo/").url == address
    assert "Being undone" in text(client.get(address))
    work()
    page = text(client.get(address))
    assert "1 conversation and 2 facts were removed." in page
    assert not Conversation.objects.exists()
    assert not LegacyFact.objects.exists()
    assert "was taken back already" in text(client.post(f"{address}undo/", follow=True))


def test_what_was_left_out_and_what_was_changed_is_told(visit, owner, settings):
    settings.MESSAGE_MAX_CHARACTERS = 20
    messages = [chatgpt_message("user", "<b>Hello</b> there, you two"), chatgpt_message("tool", "x")]
    client = visit(owner)
    address = client.post("/import/", sent([chatgpt_conversation(*messages)], "conversations.json")).url
    work()
    page = text(client.get(address))
    assert "Tool calls and their results: 1" in page
    assert "became 2 messages" in page
    assert "<b>Hello" not in page


def test_a_service_that_is_away_is_told(visit, owner):
    client = visit(owner)
    address = client.post("/import/", sent([chatgpt_talk("A")])).url
    job = JobRun.objects.get()
    JobRun.objects.update(state="running", lease_token=job.pk, lease_until=job.created_at)
    job.refresh_from_db()
    retry_job_later(job, "OperationalError")
    assert "A service that this needs is not available." in text(client.get(address))


def test_htmx_fetches_the_panel_and_announces_what_is_new(visit, owner):
    address = visit(owner).post("/import/", sent([chatgpt_talk("A")])).url
    client = visit(owner, htmx=True)
    same = text(client.get(f"{address}?was=waiting"))
    assert same.strip().startswith('<div id="import"')
    assert 'hx-trigger="every 2s"' in same
    assert "hx-swap-oob" not in same
    work()
    ended = text(client.get(f"{address}?was=waiting"))
    assert "hx-trigger" not in ended
    assert 'id="said"' in ended


@pytest.mark.parametrize("who", ["member", "stranger", "staff", None])
@pytest.mark.parametrize(("method", "what"), [("get", ""), ("post", "cancel/"), ("post", "undo/")])
def test_another_person_s_import_is_not_there(request, visit, brought, who, method, what):
    client = visit(who and request.getfixturevalue(who))
    answer = getattr(client, method)(f"/import/{brought.pk}/{what}")
    assert answer.status_code == (404 if who else 302)
    brought.refresh_from_db()
    assert brought.state == "done"


@pytest.mark.parametrize("who", ["member", "staff"])
def test_the_list_holds_one_s_own_only(request, visit, brought, who):
    assert "export.zip" not in text(visit(request.getfixturevalue(who)).get("/import/"))


@pytest.mark.parametrize("much", [1, 3])
def test_pages_cost_the_same_however_much_there_is(visit, owner, legacy, django_assert_num_queries, much):
    for number in range(much):
        talks = [chatgpt_talk(*BEES, name=f"{number}-{n}") for n in range(much)]
        content = io.BytesIO(json.dumps(talks).encode())
        upload, _ = import_create(principal_for_person(owner.pk), content, legacy_id=legacy.pk)
        work()
    client = visit(owner)
    with django_assert_num_queries(IMPORT_QUERIES):
        client.get(f"/import/{upload.pk}/")
    with django_assert_num_queries(IMPORTS_QUERIES):
        client.get("/import/")


def test_what_came_of_it_is_counted_and_leads_to_lists_of_it(visit, owner, agent, legacy, brought):
    said = Message.objects.filter(conversation__brought_by=brought).first()
    PreferencesFactory(user=owner, review="before")
    waits = MemoryFactory(user=owner, agent=agent, content="The user grows beans on a balcony.")
    learned = MemoryFactory(user=owner, content="The user keeps seven hens.")
    MemoryFactory(user=owner, content="The user grows tomatoes.")
    for memory in (waits, learned):
        version = MemoryVersion.objects.get(memory=memory)
        MemoryEvidence.objects.create(version=version, message=said, quote="")
    LegacyFactFactory(legacy=legacy, user=owner, content="Said elsewhere.")
    client = visit(owner)
    page = text(client.get(f"/import/{brought.pk}/"))
    for address, there in (
        (f"/facts/?upload={brought.pk}", 2),
        (f"/memories/?upload={brought.pk}", 1),
        (f"/memories/?state=proposed&upload={brought.pk}", 1),
    ):
        assert f'<a href="{escape(address)}">{there}<' in page
        assert text(client.get(address)).count('<li class="fact line') == there
