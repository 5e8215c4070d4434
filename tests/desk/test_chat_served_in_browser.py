"""The chat on the real application in a browser: words as they come, Stop, a second tab, several models."""

import pytest
from playwright.sync_api import expect

from assistant.models import Reply
from tests import factories
from tests.assistant.replying import behind
from tests.assistant.test_reply_council import by_model
from tests.language.messages_api import MODEL, OTHER_MODEL, serving, spoken
from tests.serving import running

from .conftest import DESKTOP, PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def model(settings):
    with serving() as server:
        behind(settings, server)
        settings.KEEPSAKE_COUNCIL_MODELS = [MODEL, OTHER_MODEL]
        yield server


@pytest.fixture(params=[PHONE, DESKTOP], ids=["390", "1440"])
def context(request, chromium, settings, owner, model, session_cookie):
    settings.WHITENOISE_USE_FINDERS = True  # Nothing is collected for tests.
    with running() as address:
        context = chromium.new_context(base_url=address, viewport=request.param)
        context.add_cookies([session_cookie(owner, address)])
        yield context
        context.close()


def say(page, words):
    field = page.get_by_label("What you want to say")
    field.fill(words)
    field.press("Enter")


def test_an_answer_is_read_while_it_comes_followed_by_another_tab_and_stopped(context, owner, model):
    talk = factories.ConversationFactory(user=owner)
    model.answers(spoken("Once upon ", "a time", ends=False))
    page, other = context.new_page(), context.new_page()
    page.goto(f"/conversations/{talk.pk}/")
    say(page, "Tell me a story.")
    expect(page.locator("#now .said-coming")).to_contain_text("Once upon a time")
    assert not model.gone.is_set()
    expect(page.get_by_role("button", name="Send")).to_be_hidden()
    other.goto(f"/conversations/{talk.pk}/")
    expect(other.locator("#now .said-coming")).to_contain_text("Once upon a time")
    page.get_by_role("button", name="Stop").click()
    for each in (page, other):
        expect(each.locator("#m2")).to_contain_text("Once upon a time")
        expect(each.locator("#m2")).to_contain_text("You stopped it here.")
        expect(each.get_by_role("button", name="Stop")).to_be_hidden()
    assert model.gone.wait(10)
    assert Reply.objects.get().error_code == "stopped"
    page.get_by_role("button", name="Ask again").wait_for()


def test_several_models_are_read_side_by_side_and_then_together(context, owner, model):
    talk = factories.ConversationFactory(user=owner)
    both = by_model(first=spoken("Red ", "wine."), second=spoken("White wine."))
    model.answers(both, both, spoken("Either wine", ends=False))
    page = context.new_page()
    page.goto(f"/conversations/{talk.pk}/")
    page.get_by_label("How it answers").select_option("council")
    say(page, "What do I drink with fish?")
    for name, words in ((MODEL, "Red wine."), (OTHER_MODEL, "White wine.")):
        expect(page.locator(".said-member", has_text=name)).to_have_text(f"{name}: {words}")
    expect(page.locator("#now .said-coming .said-words")).to_have_text("Either wine")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#m2")).to_contain_text("Either wine")
