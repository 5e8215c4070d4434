"""Deciding about many memories on a page: choose, confirm, carry out, take back."""

import re

import pytest

from accounts.queries import principal_for_person
from memories import actions
from memories.models import Memory
from tests.factories import MemoryFactory, rev_of

from .conftest import text, words

LIST = "/memories/?state=active"


@pytest.fixture
def memories(owner, agent):
    return [MemoryFactory(user=owner, agent=agent, content=f"Nina keeps {number} hens.") for number in range(3)]


def states(memories):
    return [Memory.objects.get(pk=memory.pk).state for memory in memories]


def ask(client, decision, back=LIST, **fields):
    return client.post("/memories/bulk/", {"decision": decision, "next": back, **fields})


def chosen(memories):
    return [f"{memory.pk}:{memory.version}" for memory in memories]


def confirm(client, page, **fields):
    """Press the button of the confirmation page."""
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text(page)))
    hidden.pop("csrfmiddlewaretoken")
    assert 'action="/memories/bulk/carry-out/"' in text(page)
    return client.post("/memories/bulk/carry-out/", {**hidden, "next": hidden["next"].replace("&amp;", "&"), **fields})


@pytest.mark.parametrize(
    ("decision", "asked", "word", "state"),
    [
        ("approve", "Approve", "Approved", "active"),
        ("reject", "Reject", "Rejected", "rejected"),
        ("archive", "Put away", "Put away", "archived"),
        ("pin", "Pin", "Pinned", "active"),
    ],
)
def test_those_ticked_are_decided_about_after_asking(visit, owner, memories, decision, asked, word, state):
    client, before = visit(owner), rev_of(owner)
    rows = list(Memory.objects.order_by("pk").values("pk", "state", "reviewed_at", "pinned"))
    page = ask(client, decision, memory=chosen(memories[:2]))
    assert f"{asked} 2 memories?" in words(page)
    assert memories[0].content in words(page)
    assert rev_of(owner) == before
    answer = confirm(client, page)
    assert answer.url == LIST
    assert rev_of(owner) == before + 2
    assert states(memories) == [state, state, "active"]
    shown = client.get(LIST)
    assert f"{word} 2 memories." in words(shown)
    (undo,) = re.findall(r'action="(/undo/\d+/\d+/)"', text(shown))
    assert undo in text(client.get("/review/"))
    assert client.post(undo, {"next": LIST}).url == LIST
    assert "Undone for 2 memories." in words(client.get(LIST))
    assert list(Memory.objects.order_by("pk").values("pk", "state", "reviewed_at", "pinned")) == rows
    assert undo not in text(client.get("/review/"))


def test_what_was_archived_is_restored_in_one(visit, owner, memories):
    principal, back = principal_for_person(owner.pk), "/memories/?state=archived"
    actions.memories_decide(principal, {memory.pk: None for memory in memories}, "archive")
    client = visit(owner)
    assert "Restore …" in words(client.get(back))
    page = ask(client, "restore", back, all="yes")
    assert "Restore 3 memories?" in words(page)
    confirm(client, page)
    assert states(memories) == ["active"] * 3


def test_everything_that_matches_means_all_pages_and_nothing_else(visit, owner, memories, monkeypatch):
    for number in range(25):
        MemoryFactory(user=owner, content=f"Nina has {number} boats.", category="tasks")
    client = visit(owner)
    page = ask(client, "archive", f"{LIST}&search=boats", all="yes")
    assert "Put away 25 memories?" in words(page)
    confirm(client, page)
    assert states(memories) == ["active"] * 3
    assert Memory.objects.filter(state="archived").count() == 25
    monkeypatch.setattr("desk.bulk.MOST_AT_ONCE", 2)
    assert "1 more match; they can follow after these." in words(ask(client, "pin", all="yes"))


def test_what_is_skipped_is_counted_with_its_reason(visit, owner, stranger, memories):
    principal, client = principal_for_person(owner.pk), visit(owner)
    wanted = [*chosen([*memories, MemoryFactory(user=stranger)]), "x:1"]
    actions.memory_pin(principal, memories[0].pk, True)
    actions.memory_update(principal, memories[1].pk, "Nina keeps white hens.")
    page = words(ask(client, "pin", memory=wanted))
    assert "Pin 1 memory?" in page
    for reason in ("1 already so", "1 changed since you saw them", "2 not there any more, or not yours to decide"):
        assert reason in page


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"decision": "approve"}, "Nothing was selected. Select the memories first."),
        ({"decision": "approve", "memory": ["x", "7:x"]}, "Nothing was selected."),
        ({"decision": "share", "all": "yes"}, "A decision about many memories is one of"),
    ],
)
def test_what_means_nothing_is_told(visit, owner, memories, fields, told):
    client = visit(owner)
    assert client.post("/memories/bulk/", fields).url == "/memories/"
    assert told in words(client.get(LIST))
    client.post("/memories/bulk/carry-out/", {"decision": "applaud", "chosen": chosen(memories)[0], "next": LIST})
    assert "A decision about many memories is one of" in words(client.get(LIST))


def test_what_has_no_room_any_more_is_told_and_stays_archived(visit, owner, settings):
    many = [MemoryFactory(user=owner, content=f"Nina keeps {number} hens.", pinned=True) for number in range(3)]
    client = visit(owner)
    confirm(client, ask(client, "archive", memory=chosen(many)))
    undo = re.search(r'action="(/undo/[^"]*)"', text(client.get(LIST)))[1]
    settings.MEMORY_BLOCK_TOKENS = 1
    assert client.post(undo, {"next": LIST}).url == LIST
    assert "3 too large for what every prompt carries" in words(client.get(LIST))
    assert states(many) == ["archived"] * 3


@pytest.mark.parametrize("who", ["member", "stranger", "staff"])
def test_memories_of_others_are_left_alone(request, visit, owner, memories, who):
    wanted = {memory.pk: None for memory in memories}
    result = actions.memories_decide(principal_for_person(owner.pk), wanted, "pin")
    client = visit(request.getfixturevalue(who))
    assert "Nothing to put away" in words(ask(client, "archive", memory=chosen(memories)))
    carried = {"decision": "archive", "chosen": " ".join(chosen(memories)), "next": LIST}
    client.post("/memories/bulk/carry-out/", carried)
    assert client.post(f"/undo/{result.first_rev}/{result.last_rev}/").status_code == 404
    assert rev_of(owner) == result.last_rev


ASK_QUERIES = 5


@pytest.mark.parametrize("much", [2, 40])
def test_asking_costs_the_same_however_many_are_chosen(visit, owner, django_assert_num_queries, much):
    many = [MemoryFactory(user=owner, content=f"Nina has {number} boats.") for number in range(much)]
    client = visit(owner)
    with django_assert_num_queries(ASK_QUERIES):
        ask(client, "archive", memory=chosen(many))
