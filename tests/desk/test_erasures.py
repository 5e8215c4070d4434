"""The pages before an erasure: what goes along at once, what else says the same once that is looked for."""

import re

import pytest
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from assistant.erasure.actions import run_erasure
from conversations.models import Message
from facts.models import LegacyFact
from journal.models import Erasure, JobRun
from memories.actions import place_add
from memories.models import Memory
from tests.factories import ConversationFactory, LegacyFactFactory, MemoryFactory, MessageFactory

from .conftest import text, words

CELLO = "I play the cello in an orchestra."
NOUNS = ("memory", "fact", "message", "conversation")
OFFERED = 'name="also" value="'


@pytest.fixture
def cello(owner, legacy):
    """What says the same: a message, its conversation, a memory, a fact, and a sentence of another conversation."""
    message = MessageFactory(conversation=ConversationFactory(user=owner), content=CELLO)
    MessageFactory(conversation=ConversationFactory(user=owner), content="In the orchestra I play the cello. It rains.")
    return {
        "message": message,
        "conversation": message.conversation,
        "memory": MemoryFactory(user=owner, content="The user plays the cello in an orchestra."),
        "fact": LegacyFactFactory(user=owner, legacy=legacy, content="Plays the cello in an orchestra."),
    }


def address(cello, noun):
    return {
        "message": f"/conversations/{cello['conversation'].pk}/1/remove/",
        "conversation": f"/conversations/{cello['conversation'].pk}/remove/",
        "memory": f"/memories/{cello['memory'].pk}/erase/",
        "fact": f"/facts/{cello['fact'].pk}/erase/",
    }[noun]


def offered(page):
    return set(re.findall(f'{OFFERED}([^"]+)" checked', text(page)))


def others(cello, noun):
    """The keys of what says the same as one of them."""
    own = {noun, "message" if noun == "conversation" else noun}
    there = {f"{each}-{cello[each].pk}" for each in ("message", "memory", "fact") if each not in own}
    return there | {f"message-{Message.objects.get(content__contains='rains').pk}"}


@pytest.mark.django_db
@pytest.mark.parametrize("noun", NOUNS)
def test_what_else_says_the_same_is_looked_for_by_a_link(visit, owner, cello, noun):
    client, page = visit(owner), address(cello, noun)
    shown = client.get(page)
    assert OFFERED not in text(shown)
    looked = re.search(r'href="(\?elsewhere=yes)#erase">Look for it', text(shown))[1]
    found = client.get(page + looked)
    assert offered(found) == others(cello, noun)
    assert "hx-get" not in text(found)
    assert "Look for it" not in text(found)


@pytest.mark.django_db
@pytest.mark.parametrize("noun", NOUNS)
def test_the_page_requests_that_part_alone(visit, owner, cello, noun):
    asked = re.search(r'hx-get="([^"]+)" hx-trigger="load"', text(visit(owner).get(address(cello, noun))))[1]
    part = visit(owner, htmx=True).get(asked)
    assert offered(part) == others(cello, noun)
    assert "Said in 3 other places" in words(part)
    assert "<main" not in text(part)


@pytest.mark.django_db
@pytest.mark.parametrize("noun", NOUNS)
def test_what_was_found_goes_along(visit, owner, cello, noun):
    page = address(cello, noun)
    also = sorted(others(cello, noun))
    visit(owner).post(f"{page}?elsewhere=yes", {"decision": "erase", "at_once": "yes", "also": also})
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    assert not any(rows.objects.filter(content__contains="cello").exists() for rows in (Message, Memory, LegacyFact))
    assert Message.objects.filter(content="[withheld] It rains.").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("noun", NOUNS)
def test_without_having_looked_it_alone_goes(visit, owner, cello, noun):
    visit(owner).post(address(cello, noun), {"decision": "erase", "at_once": "yes"})
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    stay = {each.partition("-")[::2] for each in others(cello, noun)}
    assert Erasure.objects.get().also == []
    for kind, pk in stay:
        rows = {"message": Message, "memory": Memory, "fact": LegacyFact}[kind]
        assert "cello" in rows.objects.get(pk=pk).content


@pytest.mark.django_db
@pytest.mark.parametrize("noun", ["message", "conversation"])
def test_what_rests_on_it_alone_is_named_before_anything_is_looked_for(visit, owner, cello, noun):
    cello["memory"].versions.get().evidence.create(message=cello["message"], quote=CELLO)
    shown = visit(owner).get(address(cello, noun))
    assert "Memories that nothing else says" in words(shown)
    assert "You play the cello in an orchestra." in words(shown)


@pytest.mark.django_db
def test_messages_with_a_checkbox_of_their_own_are_not_offered_again(visit, owner, cello):
    cello["memory"].versions.get().evidence.create(message=cello["message"], quote=CELLO)
    found = visit(owner).get(f"{address(cello, 'memory')}?elsewhere=yes")
    assert 'name="messages"' in text(found)
    assert offered(found) == others(cello, "memory") - {f"message-{cello['message'].pk}"}


@pytest.mark.django_db
@pytest.mark.parametrize("noun", ["message", "memory"])
def test_what_only_asks_is_folded_up_and_not_ticked(visit, owner, cello, noun):
    asked = MessageFactory(conversation=ConversationFactory(user=owner), content="Do I play the cello in an orchestra?")
    found = visit(owner).get(f"{address(cello, noun)}?elsewhere=yes")
    surely, perhaps = text(found).split('<details class="fields">')
    assert "1 other place may say the same" in words(found)
    assert f'{OFFERED}message-{asked.pk}">' in perhaps
    assert str(asked.pk) not in surely
    assert offered(found) == others(cello, noun)


@pytest.mark.django_db
@pytest.mark.parametrize("noun", NOUNS)
def test_that_nothing_was_found_is_told(visit, owner, legacy, noun):
    message = MessageFactory(conversation=ConversationFactory(user=owner), content="Hens hate fog.")
    alone = {
        "message": message,
        "conversation": message.conversation,
        "memory": MemoryFactory(user=owner, content="The user owns a tandem."),
        "fact": LegacyFactFactory(user=owner, legacy=legacy, content="Sold boats."),
    }
    for client in (visit(owner), visit(owner, htmx=True)):
        found = client.get(f"{address(alone, noun)}?elsewhere=yes")
        assert "Nothing was found that says the same elsewhere." in words(found)


@pytest.mark.django_db
def test_nothing_says_the_same_as_a_place(visit, owner, cello):
    place = place_add(principal_for_person(owner.pk), "hall", "Hall", "Plays the cello in an orchestra here.").place
    for asked in ("", "?elsewhere=yes"):
        assert "elsewhere" not in text(visit(owner).get(f"/places/{place.pk}/erase/{asked}"))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("noun", NOUNS)
def test_it_comes_by_itself_with_a_script(browse, owner, cello, noun):
    page = browse(owner)
    page.goto(address(cello, noun))
    expect(page.get_by_role("group", name="This says the same elsewhere")).to_be_visible()
    assert {each.get_attribute("value") for each in page.locator("[name=also]:checked").all()} == others(cello, noun)
    expect(page.get_by_role("link", name="Look for it")).to_have_count(0)
    expect(page.locator("#said")).to_have_text("Said in 3 other places.")
    page.get_by_label("At once").check()
    page.get_by_role("button", name="Delete it for good").click()
    expect(page).to_have_url(re.compile("/erased/"))
    statements = {each for each in others(cello, noun) if not each.startswith("message")}
    assert {f"{kind}-{pk}" for kind, pk in Erasure.objects.get().also} == statements
