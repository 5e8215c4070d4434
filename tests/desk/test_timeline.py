"""The timeline: what changed, by whom, with its undo; and what is remembered in pictures."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from playwright.sync_api import expect

from accounts.actions import grant_set
from accounts.queries import principal_for_person, principal_for_staff
from assistant.erasure.actions import erasure_request, run_erasure
from desk.timeline import feed
from desk.timeline.pictures import picture_months, picture_relations, picture_tokens
from facts.actions import fact_add
from memories import actions
from memories.models import Memory, MemoryEvidence, Relation
from memories.records import NewMemory
from tests.factories import (
    ConversationFactory,
    LegacyFactFactory,
    MemoryFactory,
    MessageFactory,
    PreferencesFactory,
    agent_principal,
    erase,
)

from .conftest import PHONE, text, words

BEES = "The user keeps bees behind the house."
HENS = "The user keeps seven hens."


def add(principal, content=BEES, category="context"):
    return actions.memory_add(principal, NewMemory(content, category), insist=True).memory


def erase_for_good(principal, scope, pk):
    _, job = erasure_request(principal, scope, str(pk))
    run_erasure(job.pk)


def undos(client, query=""):
    return re.findall(r'action="(/undo/\d+/\d+/)"', text(client.get(f"/timeline/{query}")))


def test_to_keep_an_agent_out_is_told_as_that(visit, owner, me, agent):
    """Reproduction: "You changed what it may see" of both, as when a category is unticked."""
    grant_set(me, agent.pk, categories=["context"])
    grant_set(me, agent.pk, revoked=True)
    grant_set(me, agent.pk, revoked=False)
    page = words(visit(owner).get("/timeline/"))
    told = [page.index(each) for each in ("You let it in again", "You kept it out", "You changed what it may see")]
    assert told == sorted(told)


def test_who_did_what_is_told_and_leads_to_both(visit, owner, me, agent):
    add(agent_principal(agent))
    memory = add(me, HENS)
    actions.memory_update(me, memory.pk, "The user keeps nine hens.")
    page = words(visit(owner).get("/timeline/"))
    assert "You reworded it : You keep nine hens." in page or "You reworded it: You keep nine hens." in page
    assert f"{agent.name} added it" in page
    shown = text(visit(owner).get("/timeline/"))
    assert f'href="/agents/{agent.pk}/"' in shown
    assert f'href="/memories/{memory.pk}/"' in shown


def test_what_withheld_words_of_an_erased_memory_has_no_undo(visit, owner, me):
    """Reproduction: the undo was offered, and told that there was nothing to undo."""
    said = MessageFactory(conversation=ConversationFactory(user=owner), content="I fear the dark. I like tea.")
    memory = MemoryFactory(user=owner, content="The user fears the dark.")
    MemoryEvidence.objects.create(version=memory.versions.get(), message=said, quote="I fear the dark.")
    actions.memory_reject(me, memory.pk, "dont_keep")
    client = visit(owner)
    assert undos(client)
    erase_for_good(me, "memory", memory.pk)
    assert undos(client) == []


def test_the_page_of_what_was_erased_says_so_to_its_person_alone(visit, owner, me, stranger, legacy):
    """Reproduction: it was a plain 404."""
    memory, fact = MemoryFactory(user=owner), LegacyFactFactory(user=owner, legacy=legacy)
    talk = ConversationFactory(user=owner)
    for scope, address, pk in (
        ("memory", f"/memories/{memory.pk}/", memory.pk),
        ("fact", f"/facts/{fact.pk}/", fact.pk),
        ("conversation", f"/conversations/{talk.pk}/", talk.pk),
    ):
        assert visit(owner).get(address).status_code == 200
        erase_for_good(me, scope, pk)
        gone = visit(owner).get(address)
        assert (gone.status_code, "You erased this." in words(gone)) == (410, True)
        assert visit(stranger).get(address).status_code == 404


def test_it_is_narrowed_by_whom_and_by_what(visit, owner, me, agent, legacy):
    add(agent_principal(agent))
    add(me, HENS)
    fact_add(me, legacy.pk, "Rosa kept goats.", "hobby")
    client = visit(owner)
    by_agent = words(client.get(f"/timeline/?who={agent.pk}"))
    assert "bees behind the house" in by_agent
    assert "hens" not in by_agent
    assert "goats" not in by_agent
    mine = words(client.get("/timeline/?who=me&kind=memory"))
    assert "seven hens" in mine
    assert "bees" not in mine
    assert "goats" not in mine
    assert "Rosa kept goats." in words(client.get("/timeline/?kind=fact"))
    assert "Nothing of this kind has changed." in words(client.get("/timeline/?who=staff"))


def test_an_address_that_means_nothing_shows_everything(visit, owner, me):
    add(me)
    page = words(visit(owner).get("/timeline/?who=x&kind=y&before=z"))
    assert "bees behind the house" in page


def test_what_was_done_is_undone_and_that_too(visit, owner, me):
    memory = add(me)
    actions.memory_update(me, memory.pk, HENS)
    client = visit(owner)
    (address,) = undos(client)  # Of the edit alone: what came before it is built on.
    client.post(address, {"next": "/timeline/"})
    assert Memory.objects.get(pk=memory.pk).content == BEES
    again, first = undos(client)  # The undo, and what it made possible to undo.
    assert first.startswith("/undo/")
    client.post(again, {"next": "/timeline/"})
    assert Memory.objects.get(pk=memory.pk).content == HENS


def test_what_was_done_together_is_one_entry_and_undone_together(visit, owner, me):
    memories = [add(me, f"The user owns {number} spoons.") for number in (2, 3, 4, 5, 6)]
    actions.memories_delete(me, [each.pk for each in memories])
    client = visit(owner)
    page = words(client.get("/timeline/"))
    assert page.count("You put it away") == 1
    assert "and 2 more" in page
    (address, *_) = undos(client)
    client.post(address, {"next": "/timeline/"})
    assert set(Memory.objects.values_list("state", flat=True)) == {"active"}


def test_the_same_done_several_times_in_a_row_is_one_line_with_each_undo(visit, owner, me, agent):
    bot = agent_principal(agent)
    memories = [add(bot, f"The user owns {number} spoons.") for number in (2, 3, 4, 5)]
    client = visit(owner)
    for memory in memories[:2]:
        actions.memory_approve(me, memory.pk)
    assert "one by one" not in words(client.get("/timeline/?who=me"))
    for memory in memories[2:]:
        actions.memory_approve(me, memory.pk)
    page = words(client.get("/timeline/?who=me"))
    assert page.count("You approved it") == 5  # The line of all of them, and each.
    assert "and 1 more" in page
    assert "Show 4 one by one" in page
    addresses = undos(client, "?who=me")
    assert len(addresses) == 4
    client.post(addresses[0], {"next": "/timeline/"})
    approved = Memory.objects.exclude(reviewed_at=None)
    assert set(approved.values_list("pk", flat=True)) == {each.pk for each in memories[:3]}


def test_what_was_done_on_two_days_is_not_told_as_one(visit, owner, me):
    for day in (3, 4, 5):
        with time_machine.travel(datetime(2026, 5, day, 12, tzinfo=UTC)):
            add(me, f"The user owns {day} spoons.")
    assert "one by one" not in words(visit(owner).get("/timeline/"))


def test_after_its_days_nothing_is_undone(visit, owner, me, settings):
    add(me)
    client = visit(owner)
    assert len(undos(client)) == 1
    with time_machine.travel(timezone.now() + timedelta(days=settings.ARCHIVE_DAYS + 1)):
        client.force_login(owner)
        assert undos(client) == []


def test_what_is_gone_is_told_without_its_words(visit, owner, me):
    memory = add(me)
    erase(Memory.objects.filter(pk=memory.pk))
    page = words(visit(owner).get("/timeline/"))
    assert "added it (1 that is gone by now)" in page
    assert "bees" not in page


def test_nothing_of_others_is_told(visit, owner, stranger, me, legacy):
    add(me)
    fact_add(me, legacy.pk, "Rosa kept goats.", "hobby")
    page = words(visit(stranger).get("/timeline/"))
    assert "Nothing has changed yet." in page


def test_it_goes_back_page_by_page(visit, owner, me, monkeypatch):
    monkeypatch.setattr(feed, "AT_ONCE", 3)
    for number in range(2, 9):
        add(me, f"The user owns {number} spoons.")
    client, seen, address = visit(owner), [], "/timeline/"
    while address:
        page = text(client.get(address))
        seen += re.findall(r"You own (\d) spoons", page)
        further = re.search(r'rel="next" href="([^"]+)"', page)
        address = further[1].replace("&amp;", "&") if further else ""
    assert list(dict.fromkeys(seen)) == ["8", "7", "6", "5", "4", "3", "2"]


def test_each_kind_of_change_has_words_of_its_own(visit, owner, me, legacy):
    client = visit(owner)
    client.post(f"/legacies/{legacy.pk}/name/", {"name": "Rosa"})
    client.post("/", {"name": "Uncle Jo"})
    client.post(f"/legacies/{legacy.pk}/members/invite/", {"name": "somebody"})
    page = words(client.get("/timeline/?kind=legacy"))
    assert "You began it" in page
    assert "You invited somebody to it" in page


@pytest.mark.parametrize("rows", [2, 12])
def test_a_page_takes_as_many_queries_for_many_rows(visit, owner, me, agent, rows):
    for number in range(rows):
        add(me if number % 2 else agent_principal(agent), f"The user owns {number + 2} spoons.")
    client = visit(owner)
    client.get("/timeline/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/timeline/")
    assert len(queries) <= 11


def test_tokens_stand_against_the_budget(owner, me):
    add(me, BEES, "context")
    add(me, HENS, "preference")
    picture = picture_tokens(me)
    assert sum(tokens for _label, tokens in picture.rows) == picture.fill.tokens > 0
    assert sum(part.number for part in picture.parts) == picture.fill.tokens
    assert sum(part.width for part in picture.parts) == pytest.approx(
        600 * picture.fill.tokens / picture.fill.budget, abs=1
    )


@time_machine.travel(datetime(2026, 6, 15, 12, tzinfo=UTC), tick=False)
def test_memories_are_counted_by_month_and_category(owner, me):
    for content, category, days in (
        (BEES, "context", 0),
        (HENS, "context", 40),
        ("The user sings in a choir.", "interests", 40),
        ("The user has a sister.", "person", 900),
    ):
        memory = MemoryFactory(user=owner, content=content, category=category)
        Memory.objects.filter(pk=memory.pk).update(created_at=timezone.now() - timedelta(days=days))
    picture = picture_months(me, picture_tokens(me))
    assert [f"{month:%m}" for month, _x, _parts in picture.columns][-2:] == ["05", "06"]
    numbers = dict(picture.rows)
    assert numbers["Context"][-2:] == [1, 1]
    assert numbers["Interests"][-2:] == [1, 0]
    assert numbers["Person"][0] == 1
    assert sum(numbers["Person"][1:]) == 0
    heights = [sum(part.height for part in parts) for _month, _x, parts in picture.columns]
    assert heights[-2] == 160
    assert heights[-1] == 80


def test_more_categories_than_colours_share_the_last(owner, me):
    for number, category in enumerate(("context", "person", "goals", "tasks", "tone", "style", "project")):
        MemoryFactory(user=owner, content=f"The user owns {number + 2} spoons.", category=category)
    picture = picture_months(me, picture_tokens(me))
    assert len(picture.legend) == 5
    assert picture.legend[-1] == (5, "Other categories")
    assert [part.number for part in picture.columns[-1][2]][-1] == 3


def test_a_category_has_one_colour_in_both_pictures(owner, me):
    for content, category in (
        (BEES, "context"),
        (HENS, "context"),
        (
            "The user has a sister who lives in Porto with her husband and two children, and " + "many " * 40 + "hens.",
            "person",
        ),
    ):
        MemoryFactory(user=owner, content=content, category=category)
    tokens = picture_tokens(me)
    colours = {part.label: part.series for part in tokens.parts}
    assert colours["Person"] < colours["Context"], "one is larger here, the other more often there"
    assert {label: number for number, label in picture_months(me, tokens).legend} == colours


def test_related_memories_stand_beside_each_other(owner, me):
    first, second, _alone, third = (
        MemoryFactory(user=owner, content=f"The user owns {number} spoons.") for number in (2, 3, 4, 5)
    )
    Relation.objects.all().delete()
    Relation.objects.create(user=owner, from_memory=third, to_memory=first, type="supersedes", strength=1)
    Relation.objects.create(user=owner, from_memory=first, to_memory=second, type="related_to", strength=0.9)
    picture = picture_relations(me)
    told = {node.content: node.related for node in picture.nodes}
    assert set(told) == {f"You own {number} spoons." for number in (2, 3, 5)}
    number = {node.content: node.number for node in picture.nodes}
    assert ("took the place of", number["You own 2 spoons."]) in told["You own 5 spoons."]
    assert ("replaced by", number["You own 5 spoons."]) in told["You own 2 spoons."]
    assert len(picture.arcs) == 2
    actions.memory_archive(me, second.pk)
    assert len(picture_relations(me).nodes) == 2


def test_what_is_only_near_as_a_vector_is_no_relation_in_the_picture(owner, me):
    spoons, jazz, forks = (
        MemoryFactory(user=owner, content=text)
        for text in ("The user owns spoons.", f"{me.name.split()[0]} likes jazz.", f"{me.name.split()[0]} owns forks.")
    )
    Relation.objects.all().delete()
    for one, other in ((spoons, jazz), (jazz, forks), (spoons, forks)):
        Relation.objects.create(user=owner, from_memory=one, to_memory=other, type="related_to", strength=0.9)
    told = {node.content for node in picture_relations(me).nodes}
    assert told == {"You own spoons.", f"{me.name.split()[0]} owns forks."}


def test_the_pictures_show_nothing_where_nothing_is(visit, owner):
    page = words(visit(owner).get("/timeline/pictures/"))
    assert "Nothing is remembered yet." in page
    assert "No memory is related to another yet." in page


def test_decimals_of_a_picture_are_no_commas(visit, owner, me):
    for number in range(3):
        add(me, f"The user owns {number + 2} spoons.", ("context", "person", "goals")[number])
    page = text(visit(owner).get("/timeline/pictures/"))
    numbers = re.findall(r'<rect [^>]*? (?:x|y|width|height)="([^"]*)"', page)
    assert numbers
    assert [each for each in numbers if not re.fullmatch(r"[\d.]+", each)] == []


def test_the_pictures_take_as_many_queries_for_many_memories(visit, owner):
    client, counts = visit(owner), []
    for _ in range(2):
        MemoryFactory.create_batch(6, user=owner)
        client.get("/timeline/pictures/")
        with CaptureQueriesContext(connection) as queries:
            client.get("/timeline/pictures/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1440, "height": 900}], ids=["390", "1440"])
def test_in_a_browser_it_is_narrowed_and_undone_and_fits(browse, owner, agent, legacy, viewport):
    PreferencesFactory(user=owner)
    me = principal_for_person(owner.pk)
    add(agent_principal(agent))
    add(me, HENS)
    LegacyFactFactory(legacy=legacy, user=owner)
    ConversationFactory(user=owner)
    page = browse(owner, viewport)
    page.goto("/timeline/")
    page.get_by_label("By whom").select_option(agent.name)
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".timeline li")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("Undone")
    assert Memory.objects.filter(content=BEES, state="active").count() == 0
    page.get_by_role("link", name="In pictures").click()
    expect(page.get_by_role("heading", name="How memories are related")).to_be_visible()
    for address in ("/timeline/", "/timeline/pictures/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_it_tells_why_a_moderator_opened_something(visit, owner, staff):
    memory = MemoryFactory(user=owner, content=BEES)
    moderator = principal_for_staff(staff)
    for reason in ("a report", "another report", "a third report"):
        actions.memory_open(moderator, memory.pk, reason)
    page = words(visit(owner).get("/timeline/"))
    assert "A moderator opened it to moderate it" in page
    assert all(f"Reason: {reason}" in page for reason in ("a report", "another report", "a third report"))


def test_every_number_of_a_picture_stands_in_a_table_and_every_dot_in_a_list(visit, owner, me):
    first = MemoryFactory(user=owner, content=BEES, category="context")
    second = MemoryFactory(user=owner, content=HENS, category="preference")
    Relation.objects.all().delete()
    Relation.objects.create(user=owner, from_memory=first, to_memory=second, type="supersedes", strength=1)
    page = text(visit(owner).get("/timeline/pictures/"))
    tokens, months = re.findall(r'<table class="figures">(.*?)</table>', page, re.S)
    for label, number in picture_tokens(me).rows:
        assert f'<th scope="row">{label}</th><td>{number}</td>' in tokens
    for label, numbers in picture_months(me, picture_tokens(me)).rows:
        row = re.search(rf'<th scope="row">{label}</th>(.*?)</tr>', months, re.S)[1]
        assert [int(each) for each in re.findall(r"<td>(\d+)</td>", row)] == list(numbers)
    graph = page.split('class="graph"')[1].split("</div>")[0]
    assert graph.count("<circle") == 2
    assert all(f'<a href="/memories/{each.pk}/">' in graph.split("<ol>")[1] for each in (first, second))
