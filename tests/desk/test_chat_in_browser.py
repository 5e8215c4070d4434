"""The chat in a real browser: typing, streaming, what was learned, errors, without JavaScript, on a phone.

The tests' server sends an answer when all of it has come; that it comes bit by bit, ``test_reply_served`` tries on the
real one.
"""

import re

import pytest
from playwright.sync_api import expect

from assistant.learn.actions import extract_messages
from assistant.models import Reply
from conversations.models import Conversation
from memories.models import Memory
from tests import factories
from tests.assistant.replying import behind
from tests.language.messages_api import error, serving, spoken

from .conftest import DESKTOP, PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ADD = ("toolu_1", "add_to_memory", {"content": "Alec is the user's boss.", "category": "person", "subject": "Alec"})
USED = {"input_tokens": 140, "cache_read_input_tokens": 860, "cache_creation_input_tokens": 0, "output_tokens": 140}


@pytest.fixture
def model(settings):
    with serving() as server:
        behind(settings, server)
        yield server


def type_in(page, words):
    field = page.get_by_label("What you want to say")
    field.click()
    field.press_sequentially(words)
    return field


def test_without_a_model_it_asks_and_a_yes_remembers_what_was_said_before(browse, owner, settings):
    """With nothing scripted: scenario 1 of source 001."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    page = browse(owner, PHONE)
    page.goto("/talk/")
    type_in(page, "Alec is my boss by the way.").press("Enter")
    expect(page.locator("#m2")).to_contain_text("Shall I remember that Alec is your boss?")
    assert not extract_messages(Conversation.objects.get().pk)
    type_in(page, "Yes").press("Enter")
    expect(page.locator("#m4")).to_contain_text("I will remember that Alec is your boss.")
    assert extract_messages(Conversation.objects.get().pk) == 2
    expect(page.locator("#m1 .said-learned")).to_contain_text("Remembered: Alec is your boss.")
    expect(page.locator("[data-reading]")).to_have_count(0)
    assert [
        found["id"] for found in page.evaluate("[...document.querySelectorAll('.said > li')].map(({id}) => ({id}))")
    ][-4:] == ["m1", "m2", "m3", "m4"]


def test_without_a_model_a_new_conversation_recalls_what_was_kept(browse, owner, settings):
    """Scenario 2 of source 001."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    page = browse(owner, PHONE)
    page.goto("/talk/")
    type_in(page, "Remember that Alec is my boss.").press("Enter")
    expect(page.locator("#m2")).to_contain_text("I will remember that Alec is your boss.")
    extract_messages(Conversation.objects.get().pk)
    page.get_by_role("link", name="New conversation").click()
    page.wait_for_url("**/talk/")
    type_in(page, "Who is Alec?").press("Enter")
    expect(page.locator("#m2")).to_contain_text("Alec is your boss. (remembered on")


def test_without_a_model_a_correction_is_made_at_once_and_told(browse, owner, settings):
    """Scenario 3 of source 001."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    memory = factories.MemoryFactory(user=owner, content="Sarah works on the Platform team.", subject="Sarah")
    page = browse(owner, PHONE)
    page.goto("/talk/")
    type_in(page, "Sarah works on the Design team now.").press("Enter")
    expect(page.locator("#m2")).to_contain_text("Updated: Sarah works on the Design team.")
    expect(page.locator("#m2")).to_contain_text("Until now I had: Sarah works on the Platform team.")
    expect(page.locator("#m2")).not_to_contain_text("Shall I")
    extract_messages(Conversation.objects.get().pk)
    memory.refresh_from_db()
    assert (memory.content, memory.version) == ("Sarah works on the Design team.", 2)
    page.goto(f"/memories/{memory.pk}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sarah works on the Design team.")


def test_without_a_model_a_no_leaves_nothing(browse, owner, settings):
    """Scenario 4 of source 001."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    page = browse(owner, PHONE)
    page.goto("/talk/")
    type_in(page, "Alec is my boss by the way.").press("Enter")
    expect(page.locator("#m2")).to_contain_text("Shall I remember that Alec is your boss?")
    type_in(page, "No, it's just for this task").press("Enter")
    expect(page.locator("#m4")).to_be_visible()
    expect(page.locator("#m1")).not_to_contain_text("Alec")
    extract_messages(Conversation.objects.get().pk)
    assert not Memory.objects.exists()
    page.goto("/memories/")
    expect(page.get_by_role("main")).not_to_contain_text("Alec")


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["390", "1440"])
def test_what_is_remembered_is_listed_and_deleted_by_a_command(browse, owner, settings, viewport):
    """Scenarios 5 and 6 of source 001, in a new talk and in one that goes on."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    alec = factories.MemoryFactory(user=owner, content="Alec is the user's boss.", category="person", subject="Alec")
    due = factories.MemoryFactory(user=owner, content="The user prefers Thursday due dates.", category="preference")
    page = browse(owner, viewport)
    page.goto("/talk/")
    type_in(page, "/memory").press("Enter")
    expect(page.locator(".said")).to_contain_text(f"[{alec.pk}] Alec is your boss.")
    assert not Conversation.objects.exists()
    type_in(page, "Hello.").press("Enter")
    page.wait_for_url("**/conversations/**")
    expect(page.locator("#m2")).to_be_visible()
    type_in(page, "/memory list").press("Enter")
    now = page.locator("#now")
    for line in (f"[{alec.pk}] Alec is your boss.", f"[{due.pk}] You prefer Thursday due dates."):
        expect(now).to_contain_text(line)
    type_in(page, "/memory delete zzzzzzzz").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no memory zzzzzzzz.")
    field = page.get_by_label("What you want to say")
    expect(field).to_have_value("/memory delete zzzzzzzz")
    field.fill("")
    type_in(page, f"/memory delete {due.pk}").press("Enter")
    expect(now).to_contain_text("Deleted: 'You prefer Thursday due dates.'")
    expect(now).to_contain_text("neither it nor this answer is kept")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(field).to_be_focused()
    due.refresh_from_db()
    assert due.state == "archived"
    assert Conversation.objects.get().message_count == 2
    type_in(page, "Hello again.").press("Enter")
    expect(page.locator("#m4")).to_be_visible()


def test_the_answer_to_a_command_stays_while_what_was_learned_comes(browse, owner, settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    page = browse(owner, PHONE)
    page.goto("/talk/")
    type_in(page, "Remember that Alec is my boss.").press("Enter")
    expect(page.locator("#m2")).to_contain_text("I will remember that Alec is your boss.")
    expect(page.locator("[data-reading]")).to_have_count(1)
    means = page.get_by_text("Don’t keep: then it is in no prompt")
    expect(means).to_be_hidden()
    held = []
    page.route("**/reply/", lambda route: held.append(route), times=1)  # noqa: PLW0108 - it is marked by the library
    with page.expect_request("**/reply/"):
        type_in(page, "/memory").press("Enter")
    extract_messages(Conversation.objects.get().pk)
    page.wait_for_timeout(2_500)  # It looks every two seconds.
    expect(page.locator("#now .mine").last).to_contain_text("/memory")
    held.pop().continue_()
    expect(page.locator("#m1 .said-learned")).to_contain_text("Remembered: Alec is your boss.")
    expect(page.locator("[data-reading]")).to_have_count(0)
    expect(means).to_be_visible()
    items = page.locator("#now > li")
    expect(items).to_have_count(4)
    expect(items.nth(2)).to_contain_text("/memory")
    expect(items.nth(3)).to_contain_text("Your memories:")
    type_in(page, "Hello.").press("Enter")
    expect(page.locator("#m4")).to_be_visible()
    assert page.evaluate("[...document.querySelectorAll('#now > li:not([data-reading])')].map(({id}) => id)") == [
        *("m1", "m2", "", "", "m3", "m4")
    ]


def test_a_person_types_and_is_answered_and_decides_about_what_was_learned(browse, owner, model):
    model.answers(
        spoken("Good ", "morning."), spoken("One moment.", calls=[ADD]), spoken("I’ll remember that.", usage=USED)
    )
    page = browse(owner, PHONE)
    page.goto("/")
    page.get_by_role("link", name="Talk", exact=True).first.click()
    type_in(page, "Hello.").press("Enter")
    page.wait_for_url("**/conversations/**")
    expect(page.locator(".said")).to_contain_text(["Good morning."])
    page.wait_for_load_state()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.get_by_label("What you want to say")).to_be_focused()
    field = type_in(page, "Remember: Alec")
    field.press("Shift+Enter")
    field.press_sequentially("is my boss.")
    expect(field).to_have_value("Remember: Alec\nis my boss.")
    field.press("Enter")
    answer = page.locator("#m4")
    expect(answer).to_contain_text("I’ll remember that.")
    expect(answer).to_contain_text("tokens, ")
    expect(field).to_have_value("")
    chip = page.locator("#m3 .said-learned li")
    expect(chip).to_contain_text("Remembered: Alec is your boss.")
    chip.locator("summary").click()
    chip.get_by_label("In your words").fill("Alec is my boss at TechCorp.")
    type_in(page, "And now")
    chip.get_by_role("button", name="Save").click()
    expect(page.locator("#m3 .said-learned")).to_contain_text("at TechCorp")
    expect(page.get_by_label("What you want to say")).to_have_value("And now")
    page.locator("#m3").get_by_role("button", name="Don’t keep").click()
    expect(page.locator("#m3 .said-learned")).to_have_count(0)
    assert not Memory.objects.filter(state="active").exists()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_what_was_learned_is_undone_with_one_press(browse, owner, model):
    model.answers(spoken(calls=[ADD]), spoken("Noted."))
    page = browse(owner)
    page.goto("/talk/")
    type_in(page, "Remember that Alec is my boss.").press("Enter")
    page.locator("#m1").get_by_role("button", name="Undo").click()
    expect(page.locator("#m1")).to_be_visible()
    expect(page.locator(".said-learned")).to_have_count(0)
    assert not Memory.objects.filter(state="active").exists()


def test_errors_are_told_in_plain_words_and_nothing_typed_is_lost(browse, owner, model, settings):
    talk = factories.ConversationFactory(user=owner)
    page = browse(owner)
    page.goto(f"/conversations/{talk.pk}/")
    field = page.get_by_label("What you want to say")
    trouble = page.locator("#said-trouble")
    field.fill("a" * 32_001)
    field.press("Enter")
    expect(trouble).to_contain_text("a message has at most 32,000 characters, and this has 32,001")
    expect(field).to_have_value("a" * 32_001)
    settings.UPDATES_STREAMS_PER_PERSON = 0
    field.fill("I keep hens.")
    field.press("Enter")
    expect(trouble).to_contain_text("Too many answers are being written for you at once.")
    expect(field).to_have_value("I keep hens.")
    settings.UPDATES_STREAMS_PER_PERSON = 10
    page.route("**/reply/", lambda route: route.abort())
    field.press("Enter")
    expect(trouble).to_contain_text("Keepsake could not be reached. What you typed is still here")
    expect(field).to_have_value("I keep hens.")
    page.unroute("**/reply/")
    model.answers(error(529, "overloaded_error"), spoken("How lovely."))
    field.press("Enter")
    expect(page.locator("#m1")).to_contain_text("The language model is overloaded just now. What you said is kept.")
    expect(trouble).to_be_hidden()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#m2")).to_contain_text("How lovely.")
    assert Conversation.objects.get().message_count == 2
    assert Reply.objects.get().attempt == 2


def test_what_is_typed_while_a_message_is_sent_stays(browse, owner, model):
    talk = factories.ConversationFactory(user=owner)
    page = browse(owner)
    page.goto(f"/conversations/{talk.pk}/")
    held = []
    page.route("**/reply/", lambda route: held.append(route))  # noqa: PLW0108 - it is marked by the library
    model.answers(spoken("How lovely."))
    with page.expect_request("**/reply/"):
        type_in(page, "I keep hens.").press("Enter")
    field = type_in(page, "I also have")
    expect(page.locator("#now .mine")).to_contain_text("I keep hens.")
    held.pop().continue_()
    expect(page.locator("#m2")).to_contain_text("How lovely.")
    expect(field).to_have_value("I also have")
    field.press_sequentially(" a canoe.")
    page.unroute("**/reply/")
    page.route("**/reply/", lambda route: route.abort())
    field.press("Enter")
    expect(page.locator("#said-trouble")).to_contain_text("What you typed is still here")
    expect(field).to_have_value("I also have a canoe.")
    expect(page.locator("#now .mine")).to_have_count(1)


def test_what_is_sent_while_an_answer_is_written_goes_when_that_has_come(browse, owner, model):
    talk = factories.ConversationFactory(user=owner)
    page = browse(owner)
    page.goto(f"/conversations/{talk.pk}/")
    held = []
    page.route("**/reply/", lambda route: held.append(route), times=1)  # noqa: PLW0108 - it is marked by the library
    model.answers(spoken("How lovely."), spoken("A canoe, too!"))
    with page.expect_request("**/reply/"):
        type_in(page, "I keep hens.").press("Enter")
    field = type_in(page, "I have a canoe.")
    field.press("Enter")
    expect(page.locator("#said-trouble")).to_have_text("It is sent when this answer has come.")
    held.pop().continue_()
    expect(page.locator("#m4")).to_contain_text("A canoe, too!")
    expect(page.locator("#m3")).to_contain_text("I have a canoe.")
    expect(page.locator("#said-trouble")).to_be_hidden()
    expect(field).to_have_value("")


def test_a_session_that_ended_leads_to_sign_in_and_back_with_what_was_typed(browse, owner, model):
    talk = factories.ConversationFactory(user=owner)
    owner.set_password("a good long one")
    owner.save()
    page = browse(owner)
    page.goto(f"/conversations/{talk.pk}/")
    page.context.clear_cookies(name=re.compile("session$"))
    page.get_by_label("What you want to say").fill("I keep hens.")
    page.get_by_label("What you want to say").press("Enter")
    expect(page.locator("#said-trouble")).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="Sign in again").click()
    page.get_by_label("User name").fill(owner.username)
    page.get_by_label("Password").fill("a good long one")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(f"/conversations/{talk.pk}/$"))
    expect(page.get_by_label("What you want to say")).to_have_value("I keep hens.")
    expect(page.locator("#trouble")).to_be_hidden()


def test_it_works_without_javascript(browse, owner, legacy, model):
    model.answers(spoken("She kept bees."), spoken("Gladly."))
    page = browse(owner, java_script_enabled=False)
    page.goto("/talk/")
    page.get_by_label("About").select_option(legacy.name)
    page.get_by_label("What you want to say").fill("What did Rosa keep?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#m2")).to_contain_text("She kept bees.")
    page.get_by_label("What you want to say").fill("Thank you.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#m4")).to_contain_text("Gladly.")
    assert Conversation.objects.get().legacy_id == legacy.pk


def test_a_talk_offers_what_to_begin_with_of_oneself_and_of_a_legacy(browse, owner, legacy):
    page = browse(owner)
    page.goto("/talk/")
    begins = page.get_by_role("group", name="To begin with").get_by_role("button")
    expect(begins).to_have_text(["What do you know about me?", "Remember that I …", "My sister is called …"])
    page.get_by_label("About").select_option(legacy.name)
    expect(begins).to_have_text(
        [f"What do you know about {legacy.name}?", f"{legacy.name} was born in …", f"{legacy.name} loved …"]
    )
    begins.last.click()
    expect(page.get_by_label("What you want to say")).to_have_value(f"{legacy.name} loved ")
    expect(page.get_by_label("What you want to say")).to_be_focused()
    page.goto(f"/talk/?about={legacy.pk}")
    expect(begins.first).to_have_text(f"What do you know about {legacy.name}?")
