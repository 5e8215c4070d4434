"""An export is chosen in Chromium, comes in while one watches, and what came out of it is reviewed."""

import re

import pytest
from playwright.sync_api import expect

from assistant.imports.run import run_import
from conversations.models import Conversation, ConversationImport
from facts.models import LegacyFact
from journal.models import JobRun
from tests.conversations.exports import (
    chatgpt_conversation,
    chatgpt_message,
    chatgpt_talk,
    chatgpt_zip,
    claude_talk,
    zipped,
)

from .conftest import ready
from .test_accessibility import found_on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEES = ("Grandmother Rosa kept bees.", "How lovely!", "She was a midwife.", "I see.")


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_MODEL = "offline"


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.zip"
    tool = chatgpt_message("tool", "3 results")
    path.write_bytes(
        chatgpt_zip(chatgpt_talk(*BEES), chatgpt_conversation(tool, chatgpt_message("user", "A"), name="b"))
    )
    return path


def work(kind="import"):
    run_import(JobRun.objects.get(kind=kind, state="waiting").pk)


def choose(tab, path, legacy="Grandmother Rosa"):
    tab.goto("/")
    tab.get_by_role("link", name="Import more").click()
    tab.get_by_label("File", exact=True).set_input_files(path)
    tab.get_by_label("Whom the conversations are about").select_option(label=legacy)
    tab.get_by_role("button", name="Import").click()
    expect(tab.get_by_role("heading", name="Waiting to start")).to_be_visible()


def test_an_export_is_imported_and_what_came_out_of_it_is_reviewed(tab, owner, legacy, export):
    Conversation.objects.create(user=owner)
    tab.sign_in(owner)
    choose(tab, export)
    work()
    # The page has fetched what is new by itself.
    expect(tab.get_by_role("heading", name="Imported")).to_be_visible()
    expect(tab.locator("#said")).to_have_text("Imported")
    tab.get_by_text("What was not imported").click()
    expect(tab.get_by_text("Tool calls and their results: 1")).to_be_visible()
    tab.get_by_role("link", name="Review what waits about").click()
    expect(tab.locator("#review")).to_contain_text("bees")
    ready(tab)
    tab.keyboard.press("a")
    expect(tab.locator("#review")).to_contain_text("midwife")
    tab.keyboard.press("r")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Nothing waits")).to_be_visible()
    approved, rejected = LegacyFact.objects.order_by("source_index")
    assert (approved.state, approved.reviewed_at is None, rejected.state) == ("active", False, "rejected")
    assert tab.faults == []


@pytest.mark.parametrize("where", ["/import/", "/data/"])
def test_a_file_is_dragged_onto_the_form(tab, owner, legacy, export, where):
    tab.sign_in(owner)
    tab.goto(where)
    tab.wait_for_load_state()
    data = tab.evaluate_handle(
        """bytes => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "export.zip", { type: "application/zip" }));
            return data;
        }""",
        list(export.read_bytes()),
    )
    form = tab.locator("form[data-drop]")
    form.dispatch_event("dragover", {"dataTransfer": data})
    expect(form).to_have_class(re.compile("is-over"))
    form.dispatch_event("drop", {"dataTransfer": data})
    expect(form).not_to_have_class(re.compile("is-over"))
    form.get_by_role("button", name="Import").click()
    expect(tab.get_by_role("heading", name="Waiting to start")).to_be_visible()
    assert ConversationImport.objects.get().file_name == "export.zip"
    assert tab.faults == []


def test_a_bad_file_is_told_on_the_page(tab, owner, legacy, tmp_path):
    tab.sign_in(owner)
    path = tmp_path / "conversations.json"
    path.write_bytes(b'[{"uuid": "a", "chat_messages": [{"sender": 5}]}]')
    Conversation.objects.create(user=owner)
    choose(tab, path)
    work()
    expect(tab.get_by_role("heading", name="Could not be imported")).to_be_visible()
    expect(tab.get_by_role("alert").filter(has_text="conversations.json, conversation 1")).to_be_visible()
    assert tab.faults == []


def test_a_file_that_is_too_large_is_told_before_it_is_sent(tab, owner, settings, export):
    settings.IMPORT_MAX_BYTES = 10
    tab.sign_in(owner)
    tab.goto("/import/")
    tab.get_by_label("File", exact=True).set_input_files(export)
    tab.get_by_role("button", name="Import").click()
    told = tab.get_by_label("File", exact=True).evaluate("field => field.validationMessage")
    assert told == "This file is larger than 0 MB."
    assert not ConversationImport.objects.exists()


def test_it_works_without_javascript_and_can_be_cancelled_and_taken_back(
    chromium, live_server, tab, owner, legacy, export
):
    tab.sign_in(owner)
    cookies = tab.context.cookies()
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies(cookies)
    plain = context.new_page()
    try:
        Conversation.objects.create(user=owner)
        choose(plain, export)
        plain.get_by_role("button", name="Cancel this import").click()
        expect(plain.get_by_role("heading", name="Cancelled")).to_be_visible()
        choose(plain, export)
        work()
        # It asks for itself again.
        expect(plain.get_by_role("heading", name="Imported")).to_be_visible()
        plain.get_by_text("Undo this import").click()
        plain.get_by_role("button", name="Undo the import").click()
        expect(plain.get_by_role("heading", name="Being undone")).to_be_visible()
        work("import_undo")
        plain.reload()
        expect(plain.get_by_role("heading", name="Undone", exact=True)).to_be_visible()
    finally:
        context.close()
    assert Conversation.objects.count() == 1


def test_pages_keep_nobody_out(tab, owner, legacy, export, tmp_path):
    tab.sign_in(owner)
    Conversation.objects.create(user=owner)
    found = {}

    def look(where):
        found[where] = found_on(tab)

    tab.goto("/import/")
    look("form")
    tab.get_by_label("File", exact=True).set_input_files(
        {"name": "x.txt", "mimeType": "text/plain", "buffer": b"hello"}
    )
    tab.get_by_role("button", name="Import").click()
    tab.locator(".errorlist").wait_for()
    look("refused")
    choose(tab, export)
    look("waiting")
    JobRun.objects.update(done=3, total=9)
    ConversationImport.objects.update(state="reading", survey={"conversations": 2, "messages": 5, "skipped": {}})
    tab.reload()
    look("running")
    ConversationImport.objects.update(state="writing")
    work()
    tab.reload()
    for summary in tab.locator("summary").all():
        summary.click()
    look("done")
    bad = tmp_path / "bad.zip"
    bad.write_bytes(zipped({"conversations.json": [{**claude_talk("A"), "uuid": 5}]}))
    choose(tab, bad)
    work()
    tab.reload()
    look("failed")
    assert {where: broken for where, broken in found.items() if broken} == {}
