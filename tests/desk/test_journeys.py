"""What a person sets out to do, from its beginning to its end, in Chromium on a phone and on a desktop.

Nothing is scripted: without a language model and with what the pages offer. Jobs of the worker are run by the test.
Twenty decisions at typing speed stand in ``test_queue_in_browser``.
"""

import re
import zipfile

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from accounts.models import Agent, User
from assistant.erasure.actions import run_erasure
from assistant.imports.run import run_import
from assistant.learn.actions import extract_messages
from assistant.takeout.export_actions import run_export
from conversations.models import Conversation, Message
from journal.models import Erasure, JobRun
from tests.conversations.exports import chatgpt_talk, chatgpt_zip
from tests.factories import LegacyFactFactory, MemoryFactory

from .conftest import DESKTOP, PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LETTERS_A_MINUTE = 200
"""So fast somebody types who is not quick at it: 40 words."""


@pytest.fixture(params=[PHONE, DESKTOP], ids=["390", "1440"])
def looks(request):
    return request.param


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_MODEL = "offline"
    cache.clear()


def fits(page):
    """Whether the page is no wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_from_the_first_run_to_the_first_recalled_memory(browse, settings, looks):
    settings.REGISTRATION = True
    page, typed = browse(None, looks), []

    def write(label, words):
        page.get_by_label(label).press_sequentially(words)
        typed.append(words)

    page.goto("/")
    page.get_by_role("link", name="Make an account").click()
    page.wait_for_url("**/register/")
    for field, words in (("username", "jo"), ("display_name", "Jo"), ("password1", "two grey geese"),
                         ("password2", "two grey geese")):  # fmt: skip
        page.locator(f"[name={field}]").press_sequentially(words)
        typed.append(words)
    page.get_by_role("button", name="Make the account").click()
    write("Where do you live?", "Lisbon")
    write("What should every assistant know about you?", "I am allergic to penicillin.")
    page.get_by_role("button", name="Remember this").click()
    expect(page.get_by_role("status").first).to_contain_text("2 things are remembered about you.")
    assert fits(page)
    page.get_by_role("link", name="Talk", exact=True).first.click()
    page.wait_for_url("**/talk/")
    write("What you want to say", "What am I allergic to?")
    page.get_by_role("button", name=re.compile("Send|Say")).click()
    expect(page.locator("#m2")).to_contain_text("penicillin")
    assert fits(page)
    assert len("".join(typed)) < 2 * LETTERS_A_MINUTE
    assert User.objects.get(username="jo").memories.count() == 2


def test_an_agent_is_connected_narrowed_and_revoked(browse, owner, looks):
    for content, category in (("The user lives in Lisbon.", "profile"), ("The user prefers tea.", "preference")):
        MemoryFactory(user=owner, content=content, category=category)
    page = browse(owner, looks)
    page.goto("/agents/")
    page.get_by_role("link", name="Connect an agent").click()
    page.get_by_label("Name").fill("Notebook")
    page.get_by_role("button", name="Make a key").click()
    key = page.locator("#credential").inner_text()
    assert fits(page)

    def seen():
        answer = page.context.request.get("/api/v1/memories/", headers={"Authorization": f"Bearer {key}"})
        return [each["content"] for each in answer.json()["results"]] if answer.ok else answer.status

    assert len(seen()) == 2
    expect(page.locator(".first-call.has-called")).to_contain_text("It has called.")
    page.goto("/agents/")
    page.get_by_role("link", name="Notebook").click()
    page.get_by_label("Preference").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#may-see")).to_contain_text("Saved.")
    assert seen() == ["The user lives in Lisbon."]
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("heading", name="It is kept out")).to_be_visible()
    assert fits(page)
    assert seen() in {401, 403}
    page.get_by_role("button", name="Let it in again").click()
    expect(page.get_by_role("heading", name="Keep it out")).to_be_visible()
    assert seen() == ["The user lives in Lisbon."]  # As narrow as before.
    assert Agent.objects.get(name="Notebook").owner == owner


def test_somebody_is_invited_accepts_and_leaves(browse, owner, member, stranger, legacy, looks):
    LegacyFactFactory(legacy=legacy, user=owner, content="Rosa sang alto.", visibility="shared")
    mine, theirs = browse(owner, looks), browse(stranger, looks)
    mine.goto(f"/legacies/{legacy.pk}/")
    mine.get_by_role("link", name="Invite, or leave").click()
    mine.get_by_role("button", name="Make an invitation").click()
    link = mine.locator("code").inner_text()
    assert fits(mine)

    theirs.goto(link)
    expect(theirs.get_by_role("heading", name="You are invited")).to_be_visible()
    theirs.get_by_role("button", name="Accept").click()
    theirs.get_by_role("link", name="What others share with me").click()
    expect(theirs.get_by_text("Rosa sang alto.")).to_be_visible()
    assert fits(theirs)

    theirs.get_by_role("link", name="Invite, or leave").click()
    theirs.get_by_text("Leave …").click()
    theirs.get_by_role("button", name="Leave this legacy").click()
    theirs.wait_for_url("**/")
    expect(theirs.get_by_role("status").first).to_contain_text("You have left.")
    assert theirs.goto(f"/legacies/{legacy.pk}/").status == 404
    mine.goto(f"/legacies/{legacy.pk}/members/")
    expect(mine.get_by_text(stranger.get_full_name())).to_have_count(0)


def test_a_history_is_imported_everything_exported_and_erased(browse, owner, legacy, tmp_path, looks):
    export = tmp_path / "export.zip"
    export.write_bytes(chatgpt_zip(chatgpt_talk("Grandmother Rosa kept bees.", "How lovely!")))
    page = browse(owner, looks)
    page.goto("/data/")
    page.get_by_label("File", exact=True).set_input_files(export)
    page.get_by_label("Whom the conversations are about").select_option(label=legacy.name)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="Waiting to start")).to_be_visible()
    run_import(JobRun.objects.get(kind="import", state="waiting").pk)
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    assert fits(page)

    page.goto("/data/")
    page.get_by_role("button", name="Collect my data").click()
    expect(page.get_by_role("heading", name="Your data is being collected")).to_be_visible()
    run_export(JobRun.objects.get(kind="export").pk)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert b"Grandmother Rosa kept bees." in archive.read("data/messages.jsonl")

    page.get_by_text("Erase everything", exact=True).last.click()
    page.get_by_label("Type your name").fill(owner.get_full_name())
    page.get_by_role("button", name="Erase everything in").click()
    receipt = page.get_by_role("link", name="the address of the receipt")
    expect(receipt).to_be_visible()
    assert fits(page)
    address = receipt.get_attribute("href")
    Erasure.objects.update(due_at=Erasure.objects.get().at)
    JobRun.objects.filter(kind="erase").update(not_before=Erasure.objects.get().at)
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    page.goto(address)
    expect(page.get_by_role("main")).to_contain_text("Erased")
    assert not User.objects.filter(pk=owner.pk).exists()
    assert not Message.objects.exists()


def test_a_sentence_said_in_a_talk_is_forgotten(browse, owner, looks):
    """Said and remembered, then not to be kept: its words are in no talk, memory, search or answer any more."""
    page = browse(owner, looks)

    def say(words):
        page.get_by_label("What you want to say").fill(words)
        page.get_by_label("What you want to say").press("Enter")

    page.goto("/talk/")
    say("Alec is my boss by the way.")
    expect(page.locator("#m2")).to_contain_text("Shall I remember")
    say("Yes")
    expect(page.locator("#m4")).to_contain_text("I will remember")
    talk = Conversation.objects.get()
    extract_messages(talk.pk)
    expect(page.locator("#m1")).to_contain_text("Remembered: Alec is your boss.")
    assert fits(page)
    page.locator("#m1").get_by_role("button", name="Don’t keep").click()
    expect(page.locator("#m1")).not_to_contain_text("Alec")
    page.goto("/memories/")
    expect(page.get_by_text("Alec is your boss.")).to_have_count(0)
    for told_of_changes in ("/", "/timeline/"):
        page.goto(told_of_changes)
        expect(page.get_by_role("main")).to_contain_text("a memory")
        expect(page.get_by_role("main")).not_to_contain_text("Alec")
    page.goto("/conversations/?search=boss")
    expect(page.get_by_role("main")).not_to_contain_text("Alec")
    page.goto("/talk/")
    say("Who is Alec?")
    expect(page.locator("#m2")).to_be_visible()
    expect(page.locator("#m2")).not_to_contain_text("boss")
    assert fits(page)
