"""The pages of conversations: who reads which, what stands in the reader, and taking something out of the record."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from accounts.queries import principal_for_person
from assistant.erasure.actions import run_erasure
from conversations.actions import (
    NewMessage,
    PassagePlace,
    conversation_create,
    messages_append,
    messages_index,
    passages_withhold,
)
from conversations.models import Conversation, Message
from desk.conversations.reader import ORPHANS, PER_PAGE, SHOWN_CHARACTERS
from journal.models import Erasure, JobRun
from memories import actions as memories
from memories.models import Memory
from memories.records import NewMemory
from tests.factories import PreferencesFactory, agent_principal

from .conftest import opened, text, words

LIST_QUERIES = 8
SEARCH_QUERIES = 9
READER_QUERIES = 13  # Four of them for the chat: replies, the one that runs or has ended, what is to be read.


@pytest.fixture
def talk(me, legacy, agent):
    """``talk("one", ("assistant", "two"), title=…)``: a conversation of the owner, of which strings are their own."""

    def talk(*said, title="Sunday talk", at=None, **more):
        conversation = conversation_create(me, title=title, **more)
        pairs = [each if isinstance(each, tuple) else ("user", each) for each in said]
        messages_append(me, conversation.pk, [NewMessage(role, content, at=at) for role, content in pairs])
        return Conversation.objects.get(pk=conversation.pk)

    return talk


def page(talk, query=""):
    return f"/conversations/{talk.pk}/{query}"


def remembered(me, talk, index, content, quote):
    """A memory that a message says."""
    said = Message.objects.get(conversation=talk, index=index)
    memory = memories.memory_add(me, NewMemory(content, "context"), conversation_id=talk.pk, message_id=said.pk).memory
    memory.versions.get().evidence.update(quote=quote)
    return memory


def test_the_list_says_whom_with_how_much_and_when(visit, owner, agent, legacy, talk):
    about = talk("Rosa sang.", title="On Rosa", legacy_id=legacy.pk, channel="letters")
    talk("Nothing of it.", title="Whispers", private=True, at=datetime(2020, 5, 4, 10, 30, tzinfo=UTC))
    mine = agent_principal(agent)
    held = conversation_create(mine, title="With a helper")
    talk("We begin on Monday.", title="", at=datetime(2020, 5, 3, 10, 30, tzinfo=UTC))
    taken = talk("My PIN is secret. Never mind.", title="", at=datetime(2020, 5, 2, 10, 30, tzinfo=UTC))
    passages_withhold(principal_for_person(owner.pk), [PassagePlace(taken.pk, 0, "My PIN is secret.")])
    said = words(visit(owner).get("/conversations/"))
    assert "On Rosa" in said
    assert "We begin on Monday." in said, "what has no title is known by its beginning"
    assert "Rosa sang." not in said
    assert "[withheld] Never mind." in said
    assert "PIN" not in said
    assert "About Grandmother Rosa, from letters, 1 message, not read for facts yet" in said
    assert "Private: nothing is learned from it" in said
    assert "with agent, 0 messages" in said
    assert "with agent, 0 messages," not in said
    order = [said.index(title) for title in ("On Rosa", "Whispers")]
    assert order == sorted(order)  # What was said last comes first, whenever it was brought in.
    only = text(visit(owner).get(f"/conversations/?agent={agent.pk}"))
    assert f"/conversations/{held.pk}/" in only
    assert f"/conversations/{about.pk}/" not in only
    assert "On Rosa" in words(visit(owner).get(f"/conversations/?legacy={legacy.pk}"))


def test_the_list_marks_what_was_said_with_memory_off(visit, owner, talk):
    PreferencesFactory(user=owner, has_memory=False)
    off = conversation_create(principal_for_person(owner.pk), title="Off")
    messages_append(principal_for_person(owner.pk), off.pk, [NewMessage("user", "I row.")])
    client = visit(owner)
    assert "Memory was off" in words(client.get("/conversations/"))
    assert "Memory was off" in words(client.get(page(off)))


def test_an_empty_list_says_what_to_do_next(visit, owner):
    answer = visit(owner).get("/conversations/")
    assert "No conversations yet." in words(answer)
    assert 'href="/imports/"' in text(answer) or 'href="/import/"' in text(answer)


def test_it_is_searched_by_words_and_by_meaning_private_ones_too(visit, owner, talk, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    key = talk("The spare key is under the pot.", "It rained all day.", title="At home")
    secret = talk("My sister moved to Porto.", title="Whispers", private=True)
    for each in (key, secret):
        messages_index(each.pk)
    client = visit(owner)
    found = client.get("/conversations/?search=porto")
    assert "My sister moved to <mark>Porto</mark>." in text(found)
    assert f"{page(secret)}?at=1#m1" in text(found)
    meant = words(client.get("/conversations/?search=where+do+I+find+what+opens+the+door"))
    assert "The spare key is under the pot." in meant
    assert "Whispers" in words(client.get("/conversations/?search=whisper"))


def test_a_word_finds_what_holds_it_and_less_near_messages_on_demand(visit, owner, talk, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    kept = talk("My aunt plays the accordion.", "The tin is under the bed.", "Good night.", "Somebody walked a lot.")
    messages_index(kept.pk)
    client = visit(owner)
    page = text(client.get("/conversations/?search=accordion"))
    assert "accordion" in page
    assert "The tin" not in page
    address = re.search(r'href="(\?search=accordion&amp;more=yes)">Show 3 more that are less near', page)[1]
    page = text(client.get("/conversations/" + address.replace("&amp;", "&")))
    assert "The tin" in page
    assert "less near" not in page


def test_a_search_finds_what_was_said_about_a_legacy_or_to_an_agent_alone(visit, owner, agent, legacy, talk):
    talk("We saw bees by the river.", title="Walks")
    talk("Rosa kept bees.", title="On Rosa", legacy_id=legacy.pk)
    held = conversation_create(agent_principal(agent), title="With a helper")
    messages_append(agent_principal(agent), held.pk, [NewMessage("user", "I fear bees.")])
    client = visit(owner)

    def found(**narrowed):
        page = words(client.get("/conversations/", {"search": "bees", **narrowed}))
        return [said for said in ("by the river", "Rosa kept", "I fear") if said in page]

    assert found() == ["by the river", "Rosa kept", "I fear"]
    assert found(legacy=str(legacy.pk)) == ["Rosa kept"]
    assert found(agent=str(agent.pk)) == ["I fear"]
    assert found(agent=str(agent.pk), legacy=str(legacy.pk)) == []


@pytest.mark.parametrize("who", ["stranger", "member", "staff"])
def test_others_read_and_take_out_nothing(visit, request, talk, who):
    kept = talk("Rosa kept bees.")
    client = visit(request.getfixturevalue(who))
    assert "Sunday talk" not in words(client.get("/conversations/"))
    assert "bees" not in words(client.get("/conversations/?search=bees"))
    for address in (page(kept), page(kept, "remove/"), page(kept, "1/remove/")):
        assert client.get(address).status_code == 404
    for address in (page(kept, "remove/"), page(kept, "1/remove/")):
        assert client.post(address, {"decision": "erase", "at_once": "yes"}).status_code == 404
    assert not Erasure.objects.exists()


def test_the_reader_shows_days_and_speakers(visit, owner, me, talk):
    PreferencesFactory(user=owner, time_zone="Asia/Tokyo")
    begun = datetime(2024, 3, 1, 14, 0, tzinfo=UTC)
    kept = talk("Good evening.", ("assistant", "What was she like?"), at=begun)
    messages_append(me, kept.pk, [NewMessage("user", "Patient.", at=begun + timedelta(hours=2))])
    said = words(visit(owner).get(page(kept)))
    assert re.search(r"Friday, 1 March 2024 You message 1, 23:00 .* Good evening\. The assistant message 2,", said)
    assert re.search(r"Saturday, 2 March 2024 You message 3, 01:00 .* Patient\.", said)


def test_what_was_said_is_shown_as_text(visit, owner, talk):
    assert "&lt;script&gt;" in text(visit(owner).get(page(talk("<script>alert(1)</script>"))))


def test_a_long_conversation_has_pages_that_keep_their_messages(visit, owner, talk):
    kept = talk(*(f"Line {n}." for n in range(1, 2 * PER_PAGE + ORPHANS + 1)))
    client = visit(owner)
    last, first = words(client.get(page(kept))), words(client.get(page(kept, "?page=1")))
    assert f"Line {2 * PER_PAGE + ORPHANS}." in last  # Few messages get no page of their own.
    assert f"Line {PER_PAGE + 1}." in last
    assert f"Line {PER_PAGE}." in first
    assert f"Line {PER_PAGE + 1}." not in first
    assert f'id="m{PER_PAGE}"' in text(client.get(page(kept, f"?at={PER_PAGE}")))
    for odd in ("?at=0", "?at=x", "?at=999999", "?page=99", "?page=x", "?at=99999999999999"):
        assert client.get(page(kept, odd)).status_code == 200


def test_a_page_costs_the_same_however_long_the_conversation_is(visit, owner, talk, django_assert_num_queries):
    short, long = talk("One."), talk(*(f"Line {n}." for n in range(200)))
    client = visit(owner)
    for each in (short, long):
        client.get(page(each))
        with django_assert_num_queries(READER_QUERIES):
            client.get(page(each))


def test_a_long_message_is_cut_and_read_whole_at_its_address(visit, owner, talk):
    kept = talk("word " * SHOWN_CHARACTERS + "end.", "Short.")
    client = visit(owner)
    cut = client.get(page(kept))
    assert "end." not in words(cut)
    assert f'href="{page(kept)}?at=1#m1">Read all of it' in text(cut)
    assert "end." in words(client.get(page(kept, "?at=1")))


def test_remembered_words_open_their_memory_and_their_fact(visit, owner, legacy, me, talk, told):
    kept = talk("Yes, I row on Tuesdays, with Ana.")
    memory = remembered(me, kept, 0, "Nina rows on Tuesdays.", "i row on  tuesdays")
    shown = text(visit(owner).get(page(kept)))
    assert f'<a class="remembered" href="/memories/{memory.pk}/"><mark>I row on Tuesdays</mark></a>, with Ana.' in shown
    assert f'Remembered: <a href="/memories/{memory.pk}/">Nina rows on Tuesdays.</a>' in shown
    assert shown.count("its words are withheld from what was said") == 1
    memories.memory_reject(me, memory.pk)
    assert 'class="remembered"' not in text(visit(owner).get(page(kept)))
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    shown = text(visit(owner).get(page(fact.source_conversation)))
    assert f'Fact: <a href="/facts/{fact.pk}/">' in shown
    assert f'class="remembered" href="/facts/{fact.pk}/"' in shown


def test_two_that_rest_on_words_that_overlap_are_both_named(visit, owner, me, talk):
    kept = talk("I row on Tuesdays with Ana.")
    first = remembered(me, kept, 0, "Nina rows on Tuesdays.", "I row on Tuesdays")
    second = remembered(me, kept, 0, "Nina knows Ana.", "Tuesdays with Ana")
    shown = text(visit(owner).get(page(kept)))
    assert shown.count('class="remembered"') == 1
    assert all(shown.count(f"/memories/{each.pk}/") for each in (first, second))
    assert "I row on Tuesdays</mark></a> with Ana." in shown


def test_withheld_words_are_shown_as_what_they_are(visit, owner, me, talk):
    kept = talk("I row. My sister is ill.", "I wrote [withheld] myself.")
    passages_withhold(me, [PassagePlace(kept.pk, 0, "My sister is ill.")])
    shown = text(visit(owner).get(page(kept)))
    assert 'I row. <a class="tag gone" href="/withheld/">withheld</a>' in shown
    assert "I wrote [withheld] myself." in shown
    assert "sister" not in shown
    assert f"{page(kept)}?at=1#m1" in text(visit(owner).get("/withheld/"))


def test_every_quotation_leads_to_its_message(visit, owner, legacy, me, talk, told):
    kept = talk("Hello.", "I row on Tuesdays.")
    memory = remembered(me, kept, 1, "Nina rows on Tuesdays.", "I row on Tuesdays")
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    client = visit(owner)
    of_memory = f'href="{page(kept)}?at=2#m2"'
    of_fact = f'href="/conversations/{fact.source_conversation_id}/?at=1#m1"'
    pages = {
        f"/memories/{memory.pk}/": of_memory,
        f"/facts/{fact.pk}/": of_fact,
        f"/review/?item=fact-{fact.pk}": of_fact,
    }
    assert [address for address, link in pages.items() if link not in text(client.get(address))] == []
    assert of_memory in text(opened(client, memory, "/memories/"))
    for back in ("/facts/", f"/legacies/{legacy.pk}/"):
        assert of_fact in text(opened(client, fact, back))


def test_before_anything_goes_it_says_what_goes_along(visit, owner, me, talk, legacy):
    kept = talk("I row on Tuesdays.", "And I swim.")
    alone = remembered(me, kept, 0, "Nina rows on Tuesdays.", "I row on Tuesdays")
    twice = remembered(me, kept, 1, "Nina swims.", "I swim")
    elsewhere = talk("I swim a lot.")
    said = Message.objects.get(conversation=elsewhere)
    twice.versions.get().evidence.create(message=said, quote="I swim")
    client = visit(owner)
    whole, one = text(client.get(page(kept, "remove/"))), text(client.get(page(kept, "1/remove/")))
    for shown in (whole, one):
        assert f'<a href="/memories/{alone.pk}/">Nina rows on Tuesdays.</a>' in shown
        assert "Nina swims." not in shown
    assert "Nothing was learned from it" in text(client.get(page(kept, "2/remove/")))
    assert "I row on Tuesdays." in one
    assert client.get(page(kept, "3/remove/")).status_code == 404
    assert client.get(page(kept, "99999999999/remove/")).status_code == 404
    assert Message.objects.filter(content__contains="withheld").count() == 0


def test_a_message_is_not_kept_and_that_is_undone(visit, owner, me, talk):
    kept = talk("My sister is ill.", ("assistant", "I am sorry that your sister is ill."))
    client = visit(owner)
    answer = client.post(page(kept, "1/remove/"), {"decision": "dont_keep"}, follow=True)
    assert "The message is withheld" in words(answer)
    assert "Not kept" in words(answer)
    assert not Message.objects.filter(content__contains="sister").exists()
    undo = re.search(r'action="(/undo/\d+/\d+/)"', text(answer))[1]
    client.post(undo, {"next": page(kept)})
    assert list(Message.objects.filter(conversation=kept).values_list("content", "declined").order_by("index")) == [
        ("My sister is ill.", False),
        ("I am sorry that your sister is ill.", False),
    ]


def test_a_conversation_is_not_kept_and_that_is_undone(visit, owner, me, talk):
    said = ["My sister is ill.", ("assistant", "Since when?"), "Since May."]
    kept = talk(*said)
    client = visit(owner)
    answer = client.post(page(kept, "remove/"), {"decision": "dont_keep"}, follow=True)
    assert set(Message.objects.filter(conversation=kept).values_list("content", flat=True)) == {"[withheld]"}
    undo = re.search(r'action="(/undo/\d+/\d+/)"', text(answer))[1]
    assert "Undone for 3 messages." in words(client.post(undo, {"next": page(kept)}, follow=True))
    rows = Message.objects.filter(conversation=kept).order_by("index")
    assert list(rows.values_list("content", flat=True)) == ["My sister is ill.", "Since when?", "Since May."]


def test_a_conversation_too_long_to_withhold_in_one_go_says_so(visit, owner, talk, monkeypatch):
    monkeypatch.setattr("desk.conversations.actions.MOST_WITHHELD", 1)
    kept = talk("One.", "Two.")
    client = visit(owner)
    assert "message by message" in words(client.get(page(kept, "remove/")))
    assert client.post(page(kept, "remove/"), {"decision": "dont_keep"}).status_code == 400
    assert Message.objects.filter(content="One.").exists()


def test_a_conversation_is_deleted_a_day_later_unless_it_is_kept_after_all(visit, owner, talk):
    kept = talk("My sister is ill.")
    client = visit(owner)
    shown = client.post(page(kept, "remove/"), {"decision": "erase", "at_once": ""}, follow=True)
    assert "This conversation is erased on" in words(shown)
    erasure = Erasure.objects.get()
    assert erasure.due_at - erasure.at > timedelta(hours=23)
    client.post(f"/conversations/kept/{erasure.pk}/", {"next": page(kept)})
    assert Erasure.objects.get().state == "withdrawn"
    assert "erased on" not in words(client.get(page(kept)))


def test_a_message_is_deleted_at_once_with_a_receipt(visit, owner, talk, me):
    kept = talk("My sister is ill.", "I row.")
    memory = remembered(me, kept, 0, "Nina's sister is ill.", "My sister is ill")
    client = visit(owner)
    answer = client.post(page(kept, "1/remove/"), {"decision": "erase", "at_once": "yes"})
    assert answer.url == f"/erased/{Erasure.objects.get().pk}/"
    run_erasure(JobRun.objects.get(kind="erase").pk)
    assert not Memory.objects.filter(pk=memory.pk).exists()
    shown = text(client.get(page(kept)))
    assert '<span class="tag gone">erased</span>' in shown
    assert "/1/remove/" not in shown


def test_an_unknown_decision_changes_nothing(visit, owner, talk):
    kept = talk("I row.")
    answer = visit(owner).post(page(kept, "remove/"), {"decision": "burn"})
    assert answer.status_code == 400
    assert "Choose what is to be done." in words(answer)
    assert Message.objects.get(conversation=kept).content == "I row."


def test_a_title_is_found_by_what_is_typed_not_by_a_pattern(visit, owner, talk):
    talk("I row.", title="All 100% of it")
    talk("I swim.", title="Some 100 of it")
    client = visit(owner)
    for typed, found in (("100%", "All 100% of it"), ("OME 100", "Some 100 of it"), ("1_0", None)):
        titles = client.get("/conversations/", {"search": typed}).context["titled"]
        assert [each.title for each in titles] == ([found] if found else [])


def test_the_list_costs_the_same_with_many(visit, owner, talk, django_assert_num_queries):
    for number in range(3):
        talk("One.", title=f"Talk {number}")
    client = visit(owner)
    client.get("/conversations/")
    with django_assert_num_queries(LIST_QUERIES):
        client.get("/conversations/")
    for number in range(20):
        talk("One.", title=f"More {number}")
    with django_assert_num_queries(LIST_QUERIES):
        answer = client.get("/conversations/")
    assert "Page 1 of 2" in words(answer)
    with django_assert_num_queries(SEARCH_QUERIES):
        client.get("/conversations/?search=one")
