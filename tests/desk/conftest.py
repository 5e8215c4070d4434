"""Signed-in browsers without JavaScript, and facts that came out of real conversations."""

import re
from html import unescape

import pytest
from django.test import Client
from django.utils.html import strip_tags
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from conversations.actions import NewMessage, conversation_create, messages_append
from facts.models import LegacyFact

PASSWORD = "a good long one"
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.fixture
def visit():
    """``visit(person)`` is a signed-in browser, ``visit()`` nobody's; ``visit(person, htmx=True)`` runs htmx."""

    def visit(person=None, *, htmx=False, **kwargs):
        client = Client(headers={"HX-Request": "true"} if htmx else None, **kwargs)
        if person is not None:
            client.force_login(person)
        return client

    return visit


@pytest.fixture
def told(monkeypatch):
    """``told(person, legacy, "Rosa was a midwife.")``: the person says it, the offline rules find the facts.

    Facts alone: what such a talk teaches about the person is told apart.
    """
    monkeypatch.setattr(
        "assistant.learn.summarizing.learns_memories", lambda principal, conversation: False, raising=False
    )

    def told(person, legacy, *texts, title="Sunday talk"):
        principal = principal_for_person(person.pk)
        conversation = conversation_create(principal, legacy_id=legacy.pk, title=title)
        messages_append(principal, conversation.pk, [NewMessage("user", text) for text in texts])
        conversation_finish(principal, conversation.pk)
        assert maybe_summarize(conversation.pk) == 1
        return list(LegacyFact.objects.filter(source_conversation=conversation).order_by("source_index"))

    return told


@pytest.fixture
def browse(chromium, live_server, session_cookie):
    """``browse(person)`` is an empty page of a signed-in browser of their own, ``browse(None)`` nobody's.

    It must not complain.
    """
    contexts, complaints = [], []

    def browse(person, viewport=None, **kwargs):
        context = chromium.new_context(base_url=live_server.url, viewport=viewport or DESKTOP, **kwargs)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if person is not None:
            context.add_cookies([session_cookie(person, live_server.url)])
        return page

    yield browse
    for page in (page for context in contexts for page in context.pages):
        page.wait_for_timeout(0)  # Hears what was told until now.
    told = [*complaints]
    # What is still being fetched ahead is cut now, which a page may complain of.
    for context in contexts:
        context.close()
    # Answers that refuse are told in the console too, and a search that a later one takes the place of. Broken scripts
    # and what the security policy stops are not meant.
    meant = (
        "the server responded with a status of",
        "net::ERR_FAILED",  # A request that a test has cut.
        "Response Status Error Code",
        "htmx:sendAbort",
        "afterRequest",
    )
    assert [each for each in told if not any(words in each for words in meant)] == []


def ready(tab):
    """Wait until the page listens to keys: its script takes the mark off the button for their list then.

    On a phone that button is not seen.
    """
    expect(tab.locator("#keys-open:not([hidden])")).to_be_attached()


def now(fact):
    """The fact as it is stored now."""
    return LegacyFact.objects.get(pk=fact.pk)


def fact_list(legacy, name="mine", **query):
    """The address of a choice."""
    more = "".join(f"&{key}={value}" for key, value in query.items())
    return f"/legacies/{legacy.pk}/?show={name}{more}"


def opened(client, thing, back):
    """What the row of a fact or a memory opens to, on the list at the address ``back``."""
    where = "facts" if isinstance(thing, LegacyFact) else "memories"
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{back}"}
    return client.get(f"/{where}/{thing.pk}/opened/", headers=headers)


def rail(answer):
    """The categories beside a list, each with how many of it stand in it."""
    part = text(answer).split('id="rail"')[1].split("</nav>")[0]
    return {name: int(count) for name, count in re.findall(r'>([\w ]+) <span class="count">(\d+)</span></a>', part)}


def open_row(row):
    """Open the row of a list in a browser, and wait until its decisions are there."""
    row.locator("summary").first.click()
    expect(row.locator(".fact-foot")).to_be_visible()


def decide(client, fact, decision, back="", **typed):
    """Press a button of a fact, from the page ``back``."""
    return client.post(f"/facts/{fact.pk}/{decision}/", {"next": back or fact_list(fact.legacy), **typed})


def text(answer):
    return answer.content.decode()


def words(answer):
    """What a page says, without its tags."""
    return " ".join(unescape(strip_tags(text(answer))).split())
