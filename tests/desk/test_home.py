"""Home: what waits of a person's memory beside facts, how much is remembered, what changed last."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, messages_append
from memories import actions
from memories.models import Memory
from memories.records import NewMemory
from tests.factories import AgentFactory, ConversationFactory, PreferencesFactory

from .conftest import text, words

BEES = "The user keeps bees behind the house."


def add(principal, content=BEES, **values):
    return actions.memory_add(principal, NewMemory(content, "context", **values), insist=True).memory


def test_everything_that_waits_is_counted(visit, owner, me, bot, cautious, told, legacy):
    told(owner, legacy, "Grandmother Rosa was a midwife.")
    add(bot, "The user sings in a choir.")
    add(bot, "The user has a sister.")
    create = add(cautious)
    page = words(visit(owner).get("/"))
    assert "1 proposal, 2 memories and 1 fact wait for your review" in page
    assert "What is proposed is not used until you approve it; the rest is in use already." in page
    lapses = timezone.localtime(create.proposals.get().expires_at)
    assert f"The proposal expires on {lapses:%A}, {lapses.day} {lapses:%B}." in page


@pytest.mark.parametrize(
    ("makes", "heading", "meaning"),
    [
        (["cautious"], "1 proposal waits for your review", "No agent uses it until you approve it."),
        (["cautious", "cautious"], "2 proposals wait for your review", "No agent uses them until you approve them."),
        (["bot"], "1 memory waits for your review", "They are in use already; you decide whether they stay."),
    ],
    ids=["proposal", "proposals", "memory"],
)
def test_what_waiting_means(visit, owner, request, makes, heading, meaning):
    for number, who in enumerate(makes):
        add(request.getfixturevalue(who), f"The user has {number + 2} sisters.")
    page = words(visit(owner).get("/"))
    assert heading in page
    assert meaning in page


def test_with_memory_switched_off_nothing_that_waits_is_said_to_be_in_use(visit, owner, bot):
    add(bot)
    PreferencesFactory(user=owner, has_memory=False)
    page = words(visit(owner).get("/"))
    assert "1 memory waits for your review Memory is switched off, so no agent uses any of it." in page
    assert "in use already" not in page


def test_what_has_lapsed_waits_no_more(visit, owner, cautious):
    add(cautious)
    client = visit(owner)
    assert "waits for your review" in words(client.get("/"))
    with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
        assert "proposal" not in words(client.get("/"))


def test_who_has_memories_alone_is_no_newcomer(visit, owner, stranger, me):
    add(me)
    page = words(visit(owner).get("/"))
    assert "Nothing is remembered yet" not in page
    assert "Nothing waits for you." in page
    assert "Remember somebody" in page
    assert "Nothing is remembered yet" in words(visit(stranger).get("/"))


def test_how_much_is_remembered(visit, owner, me):
    add(me)
    actions.place_add(me, "home", "Home")
    page = words(visit(owner).get("/"))
    assert "memory 1 memory" in page
    assert "made room in your prompts" not in page
    assert "place 1 place" in page
    assert "Every prompt carries" in page
    assert "of at most 10,000 tokens of memory" in page
    PreferencesFactory(user=owner, has_memory=False)
    assert "Memory is switched off" in words(visit(owner).get("/"))


def test_what_changed_last(visit, owner, stranger, me, bot, cautious):
    bees = add(bot)
    actions.memory_update(bot, bees.pk, "The user keeps hens.")
    sister = add(bot, "The user has a sister.")
    actions.memory_approve(me, sister.pk, content="My sister lives in Porto.")
    choir = add(bot, "The user sings in a choir.")
    actions.memory_archive(me, choir.pk)
    actions.memory_reject(me, add(bot, "The user plays chess.").pk)
    place = actions.place_add(me, "home", "Home").place
    actions.place_edit(me, place.pk, notes="By the river")
    add(cautious, "The user reads in bed.")
    page = words(visit(owner).get("/")).split("What changed last")[1]
    told = [
        "agent proposed it: You read in bed.",
        "You changed it: Home",
        "You rejected it: You play chess.",
        "You put it away: a memory",
        "You approved it in other words: My sister lives in Porto.",
        "agent reworded it: You keep hens.",
    ]
    assert [page.index(line) for line in told] == sorted(page.index(line) for line in told)
    actions.place_remove(me, place.pk)
    actions.place_restore(me, place.pk)
    page = text(visit(owner).get("/"))
    assert "You</strong> restored it:" in page
    assert f'href="/places/{place.pk}/"' in page
    assert "What changed last" not in words(visit(stranger).get("/"))


def test_stored_text_is_shown_as_text(visit, owner, me):
    script = "<script>alert('bees')</script>"
    add(me, f"Bees {script}")
    actions.place_add(me, "home", f"Home {script}")
    page = text(visit(owner).get("/"))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("much", [1, 8])
def test_it_costs_the_same_however_much_there_is(visit, owner, me, bot, cautious, django_assert_num_queries, much):
    for number in range(much):
        add(bot, f"The user has {number + 2} sisters.")
        add(cautious, f"The user has {number + 2} brothers.")
        actions.place_add(me, f"p{number}", f"Place {number}")
    client = visit(owner)
    with django_assert_num_queries(24):
        client.get("/")


def test_three_answers_become_the_first_memories(visit, stranger):
    client = visit(stranger)
    assert "Tell me about yourself" in words(client.get("/"))
    answers = {"called": "Jo", "lives": "Porto.", "matters": "I am allergic to penicillin."}
    page = words(client.post("/first-run/", answers, follow=True))
    assert "3 things are remembered about you." in page
    assert "Tell me about yourself" not in page
    mine = Memory.objects.filter(user=stranger, state="active")
    assert set(mine.values_list("content", "field")) == {
        ("I like to be called Jo.", "preferred_name"),
        ("I live in Porto.", "city"),
        ("I am allergic to penicillin.", ""),
    }


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ("In Ghent, near the harbour", "I live in Ghent, near the harbour."),
        ("at 4 Mill Lane.", "I live at 4 Mill Lane."),
        ("Porto", "I live in Porto."),
        ("Inverness", "I live in Inverness."),
        ("I live on a boat.", "I live on a boat."),
    ],
)
def test_where_somebody_lives_is_said_once_however_they_answer(visit, stranger, answer, content):
    visit(stranger).post("/first-run/", {"lives": answer})
    assert Memory.objects.get(user=stranger).content == content


@pytest.mark.parametrize(
    ("answers", "content"),
    [
        ({"called": "Jo"}, "Ich werde gern Jo genannt."),
        ({"lives": "Freiburg"}, "Ich wohne in Freiburg."),
        ({"lives": "Am Bodensee."}, "Ich wohne am Bodensee."),
        ({"lives": "Ich lebe auf einem Boot."}, "Ich lebe auf einem Boot."),
        ({"matters": "Meine Mutter kommt aus Ghana."}, "Meine Mutter kommt aus Ghana."),
    ],
)
def test_they_are_statements_in_the_language_of_the_page(visit, stranger, answers, content):
    PreferencesFactory(user=stranger, language="de")
    page = words(visit(stranger).post("/first-run/", answers, follow=True))
    assert Memory.objects.get(user=stranger).content == content
    assert "Über dich ist 1 Sache gespeichert." in page
    assert content in page


def test_what_a_newcomer_has_not_done_yet_is_still_offered_then(visit, stranger):
    client = visit(stranger)
    client.post("/first-run/", {"called": "Jo"})
    page = text(client.get("/"))
    assert 'class="button" href="/import/"' in page
    assert 'class="button" href="/agents/connect/"' in page
    assert "Somebody who is to be remembered" in page
    ConversationFactory(user=stranger)
    AgentFactory(owner=stranger)
    page = text(client.get("/"))
    assert 'class="button" href="/import/"' not in page
    assert 'class="button" href="/agents/connect/"' not in page


@pytest.mark.parametrize(
    ("answers", "told"),
    [({}, "Answer one of the questions."), ({"matters": "x" * 301}, "at most 300 characters")],
    ids=["none", "long"],
)
def test_answers_that_can_not_be_kept_are_told_of(visit, stranger, answers, told):
    answer = visit(stranger).post("/first-run/", answers)
    assert answer.status_code == 400
    assert told in words(answer)
    assert not Memory.objects.filter(user=stranger).exists()


def test_of_several_answers_the_good_ones_are_kept_and_the_other_is_shown_again(visit, stranger):
    secret = "My password is hunter2-hunter2."
    answer = visit(stranger).post("/first-run/", {"lives": "Porto", "matters": secret})
    assert answer.status_code == 400
    assert "1 thing is remembered about you." in words(answer)
    assert secret in text(answer)
    assert list(Memory.objects.filter(user=stranger).values_list("content", flat=True)) == ["I live in Porto."]


def test_an_answer_of_several_things_is_a_memory_each(visit, stranger):
    told = "I'm deaf in my left ear and I hate phone calls. I have two kids, Ben and Ada."
    page = words(visit(stranger).post("/first-run/", {"called": "Jo", "matters": told}, follow=True))
    assert "4 things are remembered about you." in page
    assert set(Memory.objects.filter(user=stranger).values_list("content", flat=True)) == {
        "I like to be called Jo.",
        "The user is deaf in the user's left ear.",
        "The user hates phone calls.",
        "The user has two kids, Ben and Ada.",
    }


def test_with_memory_off_a_newcomer_is_asked_nothing(visit, stranger):
    PreferencesFactory(user=stranger, has_memory=False)
    page = words(visit(stranger).get("/"))
    assert "Bring your history in" in page
    assert "Tell me about yourself" not in page


def test_the_first_run_leads_to_talk_import_and_agents_and_to_no_terminal(visit, stranger):
    page = text(visit(stranger).get("/"))
    for address in ("/talk/", "/import/", "/agents/connect/"):
        assert f'class="button" href="{address}"' in page
    assert "terminal" not in page
    assert "manage.py" not in page


def test_a_plan_that_asks_and_what_leaves_soon_are_told_at_home(visit, owner, stranger, me, settings):
    choir = add(me, "The user sings in a choir.")
    actions.memory_archive(me, choir.pk)
    gone = {"deleted_why": "evicted", "importance": settings.IMPORTANT, "purge_at": timezone.now() + timedelta(days=2)}
    Memory.objects.filter(pk=choir.pk).update(**gone)
    add(me, "The user keeps bees.")
    add(me, "The user is keeping bees.")
    plan = actions.optimize_plan(me)
    assert plan.items.count() == 1
    page = text(visit(owner).get("/"))
    assert f'href="/memories/tidy/{plan.pk}/"' in page
    assert "1 important memory that made room in your prompts is deleted for good" in page
    assert "A plan to merge them waits" not in text(visit(stranger).get("/"))


def test_a_talk_without_a_title_is_told_apart_by_how_it_begins(visit, owner):
    talk = ConversationFactory(user=owner, title="")
    messages_append(principal_for_person(owner.pk), talk.pk, [NewMessage("user", "My bees have swarmed again.")])
    assert "A conversation My bees have swarmed again." in words(visit(owner).get("/"))


def test_the_address_above_the_legacies_leads_home(visit, owner):
    assert visit(owner).get("/legacies/").url == "/"
