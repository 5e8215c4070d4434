"""The staff's queue: what is held back, one by one, with a reason that stays for the sitting."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person, principal_for_staff
from facts.actions import fact_hold_again, fact_refuse, fact_reject
from facts.models import LegacyFact
from journal.exceptions import Conflict, Refused
from journal.models import Change
from memories.actions import memory_add, memory_hold_again, memory_quarantine, memory_refuse, memory_reject
from memories.models import Memory
from memories.records import NewMemory
from statements.models import Suppression
from tests import factories

ADDRESS = "/admin/waiting/"


@pytest.fixture
def desk(client, staff):
    """A client of a moderator; ``desk(do, row, reason)`` presses a button about a row and returns the answer."""
    client.force_login(staff)

    def press(do, row=None, reason="", why=None):
        address = ADDRESS if why is None else f"{ADDRESS}?why={why}"
        item = "" if row is None else f"{row.noun}-{row.pk}"
        return client.post(address, {"do": do, "item": item, "reason": reason})

    press.client = client
    return press


@pytest.fixture
def held(owner, legacy, staff):
    """Two facts and a memory that are held back, the facts for one reason."""
    facts = [factories.LegacyFactFactory(legacy=legacy, user=owner, content=f"Rosa kept {each}.") for each in "ab"]
    for fact in facts:
        LegacyFact.objects.filter(pk=fact.pk).update(
            state="quarantined", active_since=None, quarantined_at=timezone.now(), state_reason="An order"
        )
        fact.refresh_from_db()
    memory = memory_add(principal_for_person(owner.pk), NewMemory("The user keeps bees.", "context")).memory
    memory_quarantine(principal_for_staff(staff), memory.pk, "A complaint")
    memory.refresh_from_db()
    return [*facts, memory]


def states(held):
    return [type(each).objects.get(pk=each.pk).state for each in held]


def opened_for(row):
    changes = Change.objects.filter(object_id=str(row.pk), event="OPEN").order_by("rev")
    return [change.meta["reason"] for change in changes]


def test_nothing_opens_without_a_reason(desk, held):
    page = desk.client.get(ADDRESS)
    assert held[0].content not in page.content.decode()
    assert [(why.reason, why.count) for why in page.context["whys"]] == [("An order", 2), ("A complaint", 1)]
    page = desk("open", held[0])
    assert "Say why" in page.content.decode()
    assert held[0].content not in page.content.decode()
    assert opened_for(held[0]) == []


def test_the_reason_stays_and_the_next_opens_at_once(desk, held):
    page = desk("open", held[0], "Looking through the queue.").content.decode()
    assert held[0].content in page
    assert "Looking through the queue." in page
    page = desk("release", held[0])
    assert held[1].content in page.content.decode()
    assert "The fact is released." in page.content.decode()
    assert opened_for(held[1]) == ["Looking through the queue."]
    page = desk("refuse", held[1])
    assert held[2].content in page.content.decode()
    assert states(held) == ["active", "rejected", "quarantined"]
    page = desk("release", held[2])
    assert "Nothing is held back" in page.content.decode()
    assert states(held) == ["active", "rejected", "active"]
    assert page["Cache-Control"].count("no-store") == 1


def test_what_the_person_reads_is_the_reason(desk, held):
    desk("refuse", held[0], "It names a neighbour.")
    change = Change.objects.get(object_id=str(held[0].pk), event="REJECT")
    assert (change.actor_kind, change.meta["reason"]) == ("staff", "It names a neighbour.")


@pytest.mark.parametrize("do", ["release", "refuse"])
@pytest.mark.parametrize("which", [0, 2])
def test_undo_holds_it_back_for_the_reason_of_before(desk, held, do, which):
    row = held[which]
    why = row.state_reason
    desk(do, row, "A look.")
    page = desk("undo")
    assert row.content in page.content.decode()
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("quarantined", why)
    assert not Suppression.objects.filter(object_id=str(row.pk)).exists()
    assert "There is nothing to undo" in desk("undo").content.decode()


def test_all_of_one_reason_are_decided_together_and_undone_together(desk, held):
    page = desk("refuse-all", reason="All orders.", why="An order")
    assert "2 of 2 are refused." in page.content.decode()
    assert states(held) == ["rejected", "rejected", "quarantined"]
    assert "2 of 2 held back again." in desk("undo").content.decode()
    assert states(held) == ["quarantined"] * 3
    desk("release-all", why="An order")
    assert states(held) == ["active", "active", "quarantined"]


def test_one_can_be_passed_over_without_being_opened(desk, held):
    page = desk("skip", held[0])
    assert page.context["row"].pk == held[1].pk
    assert page.context["opened"] is None
    page = desk("skip", held[2])
    assert page.context["row"].pk == held[0].pk


def test_ending_the_sitting_forgets_the_reason(desk, held):
    desk("open", held[0], "A look.")
    assert desk("end")["Location"] == ADDRESS
    assert "A look." not in desk.client.get(ADDRESS).content.decode()


def test_what_somebody_else_decided_meanwhile_is_told(desk, held, staff):
    fact_refuse(principal_for_staff(staff), held[0].pk, "Quicker.")
    page = desk("release", held[0], "A look.").content.decode()
    assert "That one does not wait any more." in page
    assert states(held)[0] == "rejected"


def test_what_was_built_on_is_not_undone(desk, held, owner):
    desk("refuse", held[0], "A look.")
    fact_again = factories.LegacyFactFactory(legacy=held[0].legacy, user=owner, content=held[0].content)
    assert "You have this fact again already." in desk("undo").content.decode()
    assert states([held[0], fact_again]) == ["rejected", "active"]


@pytest.mark.parametrize("data", [{"do": "nothing"}, {"do": "nothing-all"}, {}])
def test_other_words_are_not_found_and_change_nothing(desk, held, data):
    answer = desk.client.post(f"{ADDRESS}?why=An order", {"reason": "A look.", **data})
    assert answer.status_code == 404
    assert states(held) == ["quarantined"] * 3


def test_reasons_and_texts_are_escaped(desk, held):
    LegacyFact.objects.filter(pk=held[0].pk).update(content="<b>bold</b>", state_reason="<i>an order</i>")
    page = desk("open", held[0], "<u>look</u>").content.decode()
    assert not {"<b>bold", "<i>an order", "<u>look"} & {
        part for part in ("<b>bold", "<i>an", "<u>look") if part in page
    }
    assert "&lt;b&gt;bold" in page


def test_it_takes_as_many_queries_for_many(desk, held, owner, legacy, django_assert_max_num_queries):
    factories.LegacyFactFactory.create_batch(8, legacy=legacy, user=owner)
    LegacyFact.objects.filter(state="active").update(
        state="quarantined", active_since=None, quarantined_at=timezone.now(), state_reason="Many"
    )
    with django_assert_max_num_queries(12):
        assert desk.client.get(ADDRESS).status_code == 200


class TestHoldingAgain:
    """Only staff take back what staff refused."""

    def test_not_what_its_person_rejected(self, owner, staff, held):
        me, moderator = principal_for_person(owner.pk), principal_for_staff(staff)
        fact_reject(me, held[0].pk)
        memory_reject(me, held[2].pk)
        with pytest.raises(Conflict, match="Its person rejected it"):
            fact_hold_again(moderator, held[0].pk, "Back.")
        with pytest.raises(Conflict, match="Its person rejected it"):
            memory_hold_again(moderator, held[2].pk, "Back.")

    def test_not_by_others(self, owner, staff, held):
        memory_refuse(principal_for_staff(staff), held[2].pk, "No.")
        with pytest.raises(Refused):
            memory_hold_again(principal_for_person(owner.pk), held[2].pk, "Back.")
        assert Memory.objects.get(pk=held[2].pk).state == "rejected"
