"""Tidying memories up on pages: a plan is made, looked at, carried out in part, undone; nothing moves by itself."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from journal.models import JobRun
from memories import actions, strategies
from memories.models import MEMORY, Memory, MemoryPlan
from statements.actions import statements_purge
from tests import factories
from tests.memories.plans import Scripted, standing
from tests.memories.rows import remember

from .conftest import text, words

pytestmark = pytest.mark.django_db

BEES, HENS, BOTH = "The user keeps bees.", "The user keeps hens.", "The user keeps bees and hens."
TEA, JAM, SWEET = "The user likes tea.", "The user likes jam.", "The user likes tea and jam."
TIDY = "/memories/tidy/"


@pytest.fixture
def way(monkeypatch):
    """The strategy that pages use says what the test tells it to."""
    made = Scripted()
    monkeypatch.setitem(strategies.STRATEGIES, "summarise", made)
    monkeypatch.setitem(strategies.STRATEGIES, made.name, made)
    return made


@pytest.fixture
def memories(owner, way):
    made = remember(owner, BEES, HENS, TEA, JAM, {"content": "Is alone.", "category": "goals"})
    way.say(BOTH, *made[:2], subject="Animals")
    way.say(SWEET, *made[2:4])
    return made


@pytest.fixture
def plan(me, memories):
    return actions.optimize_plan(me)


def of(plan, what=""):
    return f"{TIDY}{plan.pk}/{what}"


def ids(plan):
    return [str(item.pk) for item in plan.items.order_by("position")]


def test_the_page_offers_the_categories_that_there_are(visit, owner, memories):
    page = visit(owner).get(TIDY)
    assert "Context 4" in words(page)
    assert 'value="goals"' not in text(page)
    assert "Built-in rules" in words(page)
    assert "A plan waits" not in words(page)


def test_the_list_of_memories_leads_there(visit, owner):
    link = f'href="{TIDY}"'
    assert link not in text(visit(owner).get("/memories/"))
    remember(owner, BEES, HENS)
    assert link in text(visit(owner).get("/memories/"))
    assert link not in text(visit(owner).get("/memories/?state=archived"))


def test_there_may_be_nothing_to_tidy_up(visit, owner):
    assert "There is nothing to tidy up" in words(visit(owner).get(TIDY))


def test_a_remote_model_is_named(visit, owner, memories, monkeypatch):
    class Remote:
        name, offline = "remote model 7", False

    monkeypatch.setattr("desk.memories.optimizing_views.get_model", Remote)
    assert "The language model remote model 7 reads these memories" in words(visit(owner).get(TIDY))


def test_from_the_first_page_to_the_undo(visit, owner, memories):
    client, before = visit(owner), standing(owner)
    made = client.post(TIDY, {"category": ["context"]})
    plan = MemoryPlan.objects.get()
    assert (made.url, plan.categories, plan.pinned) == (of(plan), ["context"], False)
    page = client.get(made.url)
    assert "4 memories would become 2." in words(page)
    assert "tokens in every prompt" in words(page)
    assert "Made by scripted model" in words(page)
    MemoryPlan.objects.update(written_by="offline rules 1")
    assert "Made by the built-in rules" in words(client.get(page.request["PATH_INFO"]))
    assert text(page).count("checked") == 2
    assert "<ins>" in text(page)
    assert f'href="/memories/{memories[0].pk}/"' in text(page)
    assert standing(owner) == before
    assert "A plan waits for you" in words(client.get(TIDY))
    applied = client.post(of(plan, "apply/"), {"item": ids(plan)[:1]})
    assert applied.url == of(plan)
    page = client.get(applied.url)
    assert "2 memories became 1." in words(page)
    assert "Done." in words(page)
    assert text(page).count(f'action="{of(plan, "undo/")}"') == 2  # In the message, and at the end of the page.
    merged = Memory.objects.get(content=BOTH)
    assert f'href="/memories/{merged.pk}/"' in text(page)
    assert "Tidied up" in words(client.get(TIDY))
    undone = client.post(of(plan, "undo/"))
    assert undone.url == of(plan)
    page = words(client.get(undone.url))
    assert "Undone. Your memories are as they were." in page
    assert "2 memories are restored in place of 1." in page
    assert standing(owner) == before
    assert "Undone" in words(client.get(TIDY))


def test_nothing_ticked_merges_nothing(visit, owner, plan):
    answer = visit(owner).post(of(plan, "apply/"))
    assert answer.status_code == 400
    assert "Nothing was selected." in words(answer)
    assert "What could be merged" in words(answer)
    answer = visit(owner).post(of(plan, "apply/"), {"item": ["nonsense"]})
    assert "Nothing was selected." in words(answer)
    answer = visit(owner).post(of(plan, "apply/"), {"item": ["00000000-0000-4000-8000-000000000000"]})
    assert "Choose items of this plan" in words(answer)
    assert not Memory.objects.filter(state="archived").exists()


def test_what_could_not_be_merged_says_why(visit, owner, me, plan, memories):
    actions.memory_update(me, memories[0].pk, "The user keeps wasps.")
    client = visit(owner)
    client.post(of(plan, "apply/"), {"item": ids(plan)})
    page = words(client.get(of(plan)))
    assert "Left as they are: one of them was changed after the plan was made." in page
    assert "These 2 stay separate" in page
    assert BEES in page
    assert "2 memories became 1." in page


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda me, old: actions.proposal_approve(
                me,
                actions.memory_archive(
                    factories.agent_principal(factories.AgentFactory(owner_id=me.user_id)), old
                ).proposal.pk,
            ),
            "one of them was put away",
        ),
        (lambda me, old: factories.MemoryFactory(principal=me, content=BOTH), "is remembered elsewhere by now"),
        (
            lambda me, old: actions.memory_reject(me, factories.MemoryFactory(principal=me, content=BOTH).pk),
            "you have rejected this",
        ),
    ],
)
def test_whatever_it_is(visit, owner, me, plan, memories, change, told):
    change(me, memories[0].pk)
    client = visit(owner)
    client.post(of(plan, "apply/"), {"item": ids(plan)[:1]})
    page = words(client.get(of(plan)))
    assert told in page
    assert "Nothing was merged." in page
    assert "Undo all of it" not in page


def test_what_stays_merged_says_why(visit, owner, me, plan, memories):
    client = visit(owner)
    client.post(of(plan, "apply/"), {"item": ids(plan)})
    actions.memory_update(me, Memory.objects.get(content=BOTH).pk, "The user keeps wasps.")
    client.post(of(plan, "undo/"))
    page = words(client.get(of(plan)))
    assert "Stays merged: it was changed or put away since." in page
    assert "2 memories are restored in place of 1." in page


def test_when_nothing_can_be_undone_the_page_says_so(visit, owner, me, plan):
    client = visit(owner)
    client.post(of(plan, "apply/"), {"item": ids(plan)[:1]})
    actions.memory_archive(me, Memory.objects.get(content=BOTH).pk)
    answer = client.post(of(plan, "undo/"))
    assert answer.status_code == 409
    assert "Nothing can be taken back" in words(answer)


def test_what_is_gone_for_good_is_told(visit, owner, me, plan, memories):
    client = visit(owner)
    client.post(of(plan, "apply/"), {"item": ids(plan)[:1]})
    Memory.objects.filter(pk=memories[0].pk).update(purge_at=timezone.now())
    statements_purge(MEMORY)
    assert "One that was deleted for good" in words(client.get(of(plan)))


def test_discarding_leaves_everything(visit, owner, plan):
    client, before = visit(owner), standing(owner)
    answer = client.post(of(plan, "discard/"))
    assert answer.url == TIDY
    assert "The plan was discarded. Nothing was changed." in words(client.get(TIDY))
    assert "Everything stayed as it was." in words(client.get(of(plan)))
    assert standing(owner) == before
    again = client.post(of(plan, "discard/"))
    assert (again.status_code, "This plan is discarded." in words(again)) == (409, True)


def test_one_whose_day_is_over_says_nothing(visit, owner, plan):
    MemoryPlan.objects.update(expires_at=timezone.now())
    page = words(visit(owner).get(of(plan)))
    assert "This plan has expired" in page
    assert BOTH not in page


def test_one_that_the_daily_job_made_says_why_it_asks(visit, owner, plan):
    assert "by itself" not in words(visit(owner).get(of(plan)))
    MemoryPlan.objects.update(strategy="consolidate")
    assert "would put away more than 20% of your memories at once" in words(visit(owner).get(of(plan)))
    factories.PreferencesFactory(user=owner, review="before")
    assert "you look at everything before it is used" in words(visit(owner).get(of(plan)))


def test_a_plan_of_nothing(visit, owner, way, me, settings):
    remember(owner, BEES, HENS, TEA)
    settings.OPTIMIZE_MOST_MEMORIES = 2
    plan = actions.optimize_plan(me)
    page = words(visit(owner).get(of(plan)))
    assert "Nothing to merge" in page
    assert "among 2 memories" in page
    assert "1 more was not looked at" in page


def test_progress_is_polled_and_its_end_announced(visit, owner, way, memories):
    way.slow = True
    client, poll = visit(owner), visit(owner, htmx=True)
    client.post(TIDY)
    plan, job = MemoryPlan.objects.get(), JobRun.objects.get()
    page = client.get(of(plan))
    assert "Making a plan" in words(page)
    assert "0 of 5 memories" in words(page)
    assert '<meta http-equiv="refresh"' in text(page)
    assert "A plan is being made" in words(client.get(TIDY))
    panel = poll.get(of(plan))
    assert "<html" not in text(panel)
    assert "hx-trigger" in text(panel)
    assert "hx-swap-oob" not in text(panel)
    JobRun.objects.update(error_code="ModelUnavailable")
    assert "can't be reached" in words(poll.get(of(plan)))
    actions.plan_make(job.pk)
    panel = text(poll.get(of(plan)))
    assert "What could be merged" in panel
    assert "hx-trigger" not in panel
    assert 'id="said"' in panel


def test_a_model_that_is_away_is_told(visit, owner, way, memories):
    way.failures = 1
    answer = visit(owner).post(TIDY)
    assert answer.status_code == 503
    assert "The language model can't be reached. Nothing was changed" in words(answer)


def test_what_is_refused_is_told(visit, owner, memories):
    answer = visit(owner).post(TIDY, {"category": ["nonsense"]})
    assert answer.status_code == 400
    assert "There is no category nonsense" in words(answer)


def test_pinned_ones_are_asked_for(visit, owner, way):
    remember(owner, {"content": BEES, "pinned": True}, {"content": HENS, "pinned": True}, TEA, JAM)
    visit(owner).post(TIDY, {"pinned": "on"})
    assert len(way.shown[0]) == 4


def test_what_is_stored_is_no_markup(visit, owner, me, way):
    made = remember(owner, "The user likes <b>bold</b> words.", "The user likes <i>slanted</i> words.")
    way.say(made[0].content, *made)
    page = text(visit(owner).get(of(actions.optimize_plan(me))))
    assert "What could be merged" in page
    assert "&lt;" in page
    assert "<b>" not in page
    assert "<i>" not in page


@pytest.mark.parametrize("what", ["", "apply/", "undo/", "discard/"])
def test_nobody_elses_plan_is_there(visit, stranger, staff, plan, what):
    for other in (stranger, staff):
        client = visit(other)
        answer = client.post(of(plan, what)) if what else client.get(of(plan))
        assert answer.status_code == 404
    assert "/sign-in/" in (visit().post(of(plan, what)) if what else visit().get(of(plan))).url
    plan.refresh_from_db()
    assert plan.state == "preview"


def test_queries_do_not_grow_with_the_merges(visit, owner, me, way, django_assert_num_queries):
    client = visit(owner)
    for count in (1, 6):
        made = remember(owner, *(f"Statement {count} {number} stands here." for number in range(2 * count)))
        for one, other in zip(made[::2], made[1::2], strict=True):
            way.say(f"Statement {count} {made.index(one)} twice.", one, other)
        plan = actions.optimize_plan(me)
        client.get(of(plan))
        with django_assert_num_queries(6):  # Session, person, principal, plan, items, sources with their words.
            client.get(of(plan))
        with django_assert_num_queries(6):  # Session, person, principal, categories, the open plan, the last ones.
            client.get(TIDY)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_in_a_browser(tab, owner, way, memories):
    """Progress shows by itself; one merge is left out by the keyboard; the undo is announced."""
    way.slow = True
    tab.sign_in(owner)
    tab.goto(TIDY)
    tab.get_by_role("checkbox", name="Context").check()
    tab.get_by_role("button", name="Make a plan").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Making a plan")
    stop = tab.get_by_role("button", name="Stop and discard")
    stop.focus()
    stop.evaluate("button => button.classList.add('of-before')")
    expect(stop.and_(tab.locator(":not(.of-before)"))).to_be_focused()
    actions.plan_make(JobRun.objects.get().pk)
    expect(tab.get_by_role("heading", level=1)).to_have_text("What could be merged")
    expect(tab.locator("#said")).to_have_text("What could be merged")
    tab.get_by_role("checkbox", name=f"Merge into: {SWEET}").focus()
    tab.keyboard.press("Space")
    tab.get_by_role("button", name="Merge selected").focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Tidied up")
    assert set(Memory.objects.filter(state="active").values_list("content", flat=True)) == {
        BOTH,
        TEA,
        JAM,
        "Is alone.",
    }
    tab.get_by_role("button", name="Undo all of it").click()
    expect(tab.get_by_role("status").first).to_contain_text("Undone.")
    assert Memory.objects.filter(state="active").count() == 5
    assert tab.faults == []
