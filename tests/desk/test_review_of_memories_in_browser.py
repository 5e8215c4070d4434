"""What waits of a person's memory, in a real browser: by keyboard alone, without JavaScript, and for everybody."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from desk.review.queue import END, QueueQuery
from memories import actions
from memories.models import Memory, MemoryEvidence, MemoryVersion, Place, Proposal
from memories.records import NewMemory
from tests.factories import ConversationFactory, MessageFactory, agent_principal

from .conftest import ready
from .test_accessibility import found_on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEES = "The user keeps bees behind the house."
HENS = "The user keeps hens behind the house."


@pytest.fixture
def waiting(owner, agent):
    """One of each kind that can wait, as the queue shows them."""
    me, bot = principal_for_person(owner.pk), agent_principal(agent)
    cautious = replace(bot, review="before")

    def add(principal, content, **values):
        return actions.memory_add(principal, NewMemory(content, "context", **values), insist=True).memory

    said = MessageFactory(conversation=ConversationFactory(user=owner, agent=agent), content="We have hens, not bees.")
    add(cautious, "The user grows tomatoes.", subject="Garden")
    bees = add(me, BEES)
    actions.memory_update(cautious, bees.pk, HENS, message_id=said.pk)
    actions.memory_amend(cautious, bees.pk, subject="Hens", importance=4)
    actions.memory_archive(cautious, add(me, "The user sings in a choir.").pk)
    actions.place_add(cautious, "home", "Home", "By the river", message_id=said.pk)
    work = actions.place_add(me, "work", "Work", "In town").place
    actions.place_mention(me, work.pk, said.pk)
    actions.place_edit(cautious, work.pk, notes="Out of town")
    actions.place_remove(cautious, work.pk)
    rival = add(bot, "The user has a sister in Porto.")
    Memory.objects.filter(pk=rival.pk).update(needs_check=True)
    items, place = [], QueueQuery().place(me)
    while place.item:
        items.append(place.item)
        place = QueueQuery(item=place.later.key if place.later else END).place(me)
    assert len(items) == 8
    return items


def claim(tab, item):
    return tab.locator(f"#claim-{item.key}")


def test_each_kind_is_decided_by_keyboard_alone(tab, owner, waiting):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)

    def next_is(number, said):
        expect(claim(tab, waiting[number])).to_be_focused()
        expect(tab.locator("#said")).to_contain_text(said)

    tab.keyboard.press("e")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("Tomatoes grow on my balcony.")
    for _ in range(2):
        tab.keyboard.press("Tab")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("Balcony")
    tab.keyboard.press("Enter")
    next_is(1, "Saved in your words, and approved. 2 of 8.")
    tab.keyboard.press("a")
    next_is(2, "Approved: the memory was changed. 3 of 8.")
    tab.keyboard.press("r")
    next_is(3, "Rejected: it is unchanged")
    tab.keyboard.press("a")
    next_is(4, "Approved: it is put away")
    tab.keyboard.press("u")
    next_is(3, "Undone: it is as it was before. 4 of 8.")
    tab.keyboard.press("r")
    next_is(4, "Rejected: it stays. 5 of 8.")
    tab.keyboard.press("a")
    next_is(5, "Approved: the place was saved.")
    tab.keyboard.press("j")
    next_is(6, "7 of 8.")
    tab.keyboard.press("r")
    next_is(7, "Rejected: your places are unchanged.")
    tab.keyboard.press("r")
    expect(tab.get_by_role("heading", name="All done, except 1 left for later")).to_be_focused()
    states = dict(Memory.objects.values_list("content", "state"))
    assert states["Tomatoes grow on my balcony."] == states[HENS] == states["The user sings in a choir."] == "active"
    assert Memory.objects.get(state="rejected").state_reason == "Not true"
    assert Place.objects.present().count() == 2
    assert Proposal.objects.waiting().count() == 1
    assert tab.faults == []


def test_it_works_without_javascript(browse, owner, waiting):
    page = browse(owner, java_script_enabled=False)
    page.goto("/")
    expect(page.get_by_role("heading", name="7 proposals and 1 memory wait for your review")).to_be_visible()
    page.get_by_role("link", name="Start reviewing").click()
    page.get_by_role("button", name="Not true").click()
    expect(claim(page, waiting[1])).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#where")).to_have_text("3 of 8")
    page.locator(".decided").get_by_role("button", name=re.compile("Undo")).first.click()
    expect(claim(page, waiting[1])).to_be_visible()
    expect(page.locator("#where")).to_have_text("2 of 8")
    expect(page.locator("#item")).to_be_focused()
    page.get_by_text("Filter").click()
    page.get_by_label("What waits").select_option("facts")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Nothing waits for you here")).to_be_visible()
    page.goto("/places/")
    page.get_by_label("Name").fill("The attic")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("link", name="The attic")).to_be_visible()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="The attic")).to_have_count(0)


def test_pages_keep_nobody_out(tab, owner, waiting):
    tab.sign_in(owner)
    place = Place.objects.get()
    queue = [f"/review/?item={item.key}" for item in waiting]
    found = {}
    for path in ("/", *queue, "/places/", "/places/?show=removed", f"/places/{place.pk}/"):
        tab.goto(path)
        found[path] = found_on(tab)
    tab.goto(queue[0])
    tab.get_by_role("link", name="Edit").click()
    found["edit"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_undo_returns_to_the_card_that_was_decided(tab, owner, waiting):
    said = MessageFactory(conversation=ConversationFactory(user=owner), content="My sister is in Porto.")
    version = MemoryVersion.objects.get(memory=waiting[-1].pk)
    MemoryEvidence.objects.create(version=version, message=said, quote=said.content)
    tab.sign_in(owner)
    for number, key in ((0, "r"), (1, "a"), (3, "a"), (len(waiting) - 1, "k")):
        item = waiting[number]
        tab.goto(f"/review/?item={item.key}")
        ready(tab)
        if key == "k":
            tab.get_by_role("button", name="Don’t keep").first.click()
        else:
            tab.keyboard.press(key)
        expect(claim(tab, item)).to_have_count(0)
        tab.keyboard.press("u")
        expect(claim(tab, item)).to_be_focused()
        expect(tab.locator("#where")).to_have_text(f"{number + 1} of {len(waiting)}")
