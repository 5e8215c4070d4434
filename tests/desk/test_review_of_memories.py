"""The review queue with what waits of the person's own memory: proposals, places, and memories nobody has looked at."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.queries import principal_for_person
from conversations.models import Conversation
from desk.review.queue import END, MOST_COUNTED, QueueItem, QueueQuery
from language.second_person import second_person
from memories import actions
from memories.models import ComparedPair, Memory, Place, Proposal, Relation
from memories.records import NewMemory
from statements.models import Suppression
from tests.factories import AgentFactory, GrantFactory, PreferencesFactory

from .conftest import text, words

BEES = "The user keeps bees behind the house."
HENS = "The user keeps hens behind the house."
TOMATOES = "The user grows tomatoes on two balconies."


@pytest.fixture
def add():
    """``add(principal, content)``: the memory that is remembered or proposed."""

    def add(principal, content=BEES, category="context", message=None, **values):
        said = {} if message is None else {"conversation_id": message.conversation_id, "message_id": message.pk}
        return actions.memory_add(principal, NewMemory(content, category, **values), insist=True, **said).memory

    return add


@pytest.fixture
def said(owner, cautious):
    """``said(content)``: a message of the owner, in a talk with the agent that proposes things."""
    from conversations.actions import NewMessage, conversation_create, messages_append

    def said(content, title="Over the fence"):
        principal = principal_for_person(owner.pk)
        conversation = conversation_create(cautious, title=title)
        new = [NewMessage("assistant", "What is behind the house?"), NewMessage("user", content)]
        return messages_append(principal, conversation.pk, new)[1]

    return said


@pytest.fixture
def create(cautious, add):
    return add(cautious, TOMATOES, subject="Garden")


@pytest.fixture
def update(me, cautious, add, said):
    """Another wording of a memory of the owner's that waits, with a message behind it."""
    message = said("We have hens now, not bees.")
    return actions.memory_update(cautious, add(me).pk, HENS, message_id=message.pk).proposal


def item_of(thing):
    return QueueItem("memory" if isinstance(thing, Memory) else "proposal", str(thing.pk))


def decide(client, thing, decision, query="", **typed):
    """Press a button of an item of the queue."""
    key = item_of(thing).key
    return client.post(f"/review/{key}/{decision}/", {"next": f"/review/{query}", **typed})


def undo_addresses(page):
    return re.findall(r'<form method="post" action="(/undo/[^"]*)"', page)


def now(thing):
    return type(thing).objects.get(pk=thing.pk)


# --- The order ---------------------------------------------------------------------------------------------------


def test_what_lapses_first_comes_first_then_what_came_first(visit, owner, me, bot, cautious, add, told, legacy):
    old = add(bot, "The user has a sister.")
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    young = add(bot, "The user sings in a choir.")
    create = add(cautious, TOMATOES)
    place = actions.place_add(cautious, "home", "Home").proposal
    Proposal.objects.filter(pk=place.pk).update(expires_at=timezone.now() + timedelta(days=1))
    Memory.objects.filter(pk=old.pk).update(created_at=fact.extracted_at - timedelta(days=1))
    expected = [item_of(place), item_of(create), item_of(old), QueueItem("fact", str(fact.pk)), item_of(young)]
    queue, seen = QueueQuery(), []
    found = queue.place(me)
    while found.item:
        assert found.before == len(seen)
        assert found.earlier == (seen[-1] if seen else None)
        seen.append(found.item)
        found = QueueQuery(item=found.later.key if found.later else END).place(me)
    assert seen == expected
    assert (found.before, found.total, found.earlier) == (5, 5, expected[-1])
    client = visit(owner)
    assert "1 of 5" in words(client.get("/review/"))
    assert "1 of 4" in words(client.get("/review/?kind=memories"))
    assert "1 of 1" in words(client.get("/review/?kind=facts"))
    assert "1 of 1" in words(client.get(f"/review/?legacy={legacy.pk}"))
    assert "1 of 4" in words(client.get(f"/review/?kind=memories&legacy={legacy.pk}"))


def test_things_of_one_moment_are_each_shown_once(me, bot, add):
    for number in range(4):
        add(bot, f"The user has {number + 2} sisters.")
    Memory.objects.update(created_at=timezone.now())
    seen, found = [], QueueQuery().place(me)
    while found.item:
        seen.append(found.item)
        found = QueueQuery(item=found.later.key if found.later else END).place(me)
    assert len(set(seen)) == len(seen) == 4


def test_a_category_narrows_whatever_knows_it(visit, owner, me, cautious, bot, add, told, legacy):
    told(owner, legacy, "Grandmother Rosa was a midwife.")
    add(bot, "The user likes tea.", category="preference")
    add(cautious, "The user is called Olga.", category="profile")
    actions.place_add(cautious, "home", "Home")
    for category, count in (("preference", 1), ("profile", 1), ("context", 1), ("occupation", 1), ("hobby", 0)):
        assert QueueQuery(category=category).place(me).total == count
    assert QueueQuery.of({"category": "gossip", "kind": "people", "item": "x"}) == QueueQuery()
    assert QueueQuery.of({"category": "preferences"}).place(me).total == 1
    client = visit(owner)
    page = text(client.get("/review/?kind=memories&category=profile"))
    assert '<option value="profile" selected>' in page
    assert '<option value="occupation"' not in page
    assert '<option value="profile"' not in text(client.get("/review/?kind=facts"))


def test_counting_stops_somewhere(visit, owner, me, bot, add, monkeypatch):
    for number in range(4):
        add(bot, f"The user has {number + 2} sisters.")
    monkeypatch.setattr("desk.review.queue.MOST_COUNTED", 2)
    monkeypatch.setattr("desk.review.views.MOST_COUNTED", 2)
    assert QueueQuery().place(me).total == 2
    assert "1 of 2+" in words(visit(owner).get("/review/"))
    assert MOST_COUNTED == 1_000


def test_what_does_not_wait_is_not_there(me, cautious, bot, add, create, update):
    add(me, "The user reads in bed.")
    reviewed = add(bot, "The user has a sister.")
    actions.memory_approve(me, reviewed.pk)
    expired = add(bot, "The user sings in a choir.")
    Memory.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    assert QueueQuery().place(me).total == 2
    with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
        assert QueueQuery().place(me).total == 0
    Memory.objects.filter(pk=reviewed.pk).update(needs_check=True)
    assert QueueQuery().place(me).total == 3


@pytest.mark.parametrize("who", ["stranger", "member", "staff"])
def test_nobody_else_s_memories_wait(visit, request, create, update, who):
    client = visit(request.getfixturevalue(who))
    assert "Nothing waits for you" in words(client.get("/review/"))
    assert "Nothing waits for you" in words(client.get(f"/review/?item={item_of(create).key}"))
    for thing in (create, update):
        for decision in ("approve", "edit", "reject"):
            assert decide(client, thing, decision, content=HENS).status_code == 404
    assert client.post("/undo/1/9/").status_code == 404
    assert (now(create).state, now(update).state) == ("proposed", "waiting")


def test_nobody_is_sent_to_sign_in(visit, create):
    assert decide(visit(), create, "approve").url == "/sign-in/?next=/review/"
    assert now(create).state == "proposed"


# --- What is shown -------------------------------------------------------------------------------------------------


def test_a_new_memory(visit, owner, create):
    page = words(visit(owner).get("/review/"))
    assert "New memory Context Garden Expires in 7 days" in page
    assert second_person(TOMATOES) in page
    assert "Proposed by agent on" in page
    assert "agent added it without a quotation" in page
    assert "Once approved, it is in every prompt of agent." in page


def test_a_change_shows_what_differs_and_the_words_behind_it(visit, owner, update):
    page = visit(owner).get("/review/")
    assert re.search(r"<del>.*?bees</del><ins>.*?hens</ins>", text(page))
    said = words(page)
    assert "Change to a memory" in said
    assert "We have hens now, not bees." in said
    assert "agent: What is behind the house?" in said
    assert "In “Over the fence”, message 2" in said


def test_a_change_of_what_was_forgotten_does_not_show_the_words(visit, owner, me, update):
    actions.memory_archive(me, update.memory.pk)
    page = words(visit(owner).get("/review/"))
    assert "hens" in page
    assert "bees" not in page.replace("not bees", "")


def test_a_change_of_how_it_is_filed(visit, owner, me, cautious, add):
    memory = add(me, subject="Bees")
    soon = timezone.now() + timedelta(days=40)
    values = {"subject": "Hives", "topics": ["hobby", "garden"], "importance": 4, "category": "event"}
    actions.memory_amend(cautious, memory.pk, **values, expires_at=soon)
    page = words(visit(owner).get("/review/"))
    assert "Category removed: Context added: Event" in page
    assert "Subject removed: Bees added: Hives" in page
    assert "Topics added: hobby, garden" in page
    assert "Importance removed: 2 added: 4" in page
    assert f"Remembered until added: {timezone.localtime(soon).day} " in page
    assert "it is not in every prompt, but recalled when it fits, by agent." in page


def test_what_would_be_forgotten(visit, owner, me, cautious, add):
    actions.memory_archive(cautious, add(me).pk)
    page = visit(owner).get("/review/")
    assert "Memory to put away" in words(page)
    assert "to be removed: You keep bees behind the house." in words(page)
    assert "deleted for good after 30 days" in words(page)
    assert re.findall(r'data-key="(\w)"', text(page)) == ["k", "j", "a", "r"]


def test_places(visit, owner, me, cautious):
    actions.place_add(cautious, "home", "Home", "By the river")
    client = visit(owner)
    page = words(client.get("/review/"))
    assert "New place" in page
    assert "By the river" in page
    assert "in every prompt of agent" in page
    place = actions.place_add(me, "work", "Work", "In town").place
    actions.place_edit(cautious, place.pk, notes="Out of town")
    page = client.get(f"/review/?item={item_of(Proposal.objects.latest('created_at')).key}")
    assert "Change to a place" in words(page)
    assert re.search(r"<del>.*?In</del><ins>.*?Out of</ins>", text(page))
    actions.place_remove(cautious, place.pk)
    page = client.get(f"/review/?item={item_of(Proposal.objects.latest('created_at')).key}")
    assert "Place to remove" in words(page)
    assert "to be removed: Work" in words(page)


def test_what_is_in_use_already(visit, owner, bot, add, said):
    add(bot, message=said("I keep bees behind the house."))
    client = visit(owner)
    page = words(client.get("/review/"))
    assert "Memory Context To review" in page
    assert "Written by agent on" in page
    assert "It is in every prompt of agent." in page
    assert "Expires" not in page
    PreferencesFactory(user=owner, review="before")
    page = words(client.get("/review/"))
    assert "Not used until you approve" in page
    assert "Once approved, it is in every prompt" in page


def test_the_list_of_memories_leads_to_proposed_changes_which_are_no_memories_to_approve(
    visit, owner, me, cautious, add
):
    bees = add(me)
    client = visit(owner)
    assert "to change" not in words(client.get("/memories/"))
    actions.memory_update(cautious, bees.pk, HENS)
    page = client.get("/memories/")
    assert "1 proposal to change a memory waits for you. Review it" in words(page)
    assert "1 proposal waits for your review" in words(client.get("/"))
    assert 'href="/review/?kind=memories"' in text(page)
    decide(client, Proposal.objects.get(), "approve", version=1)
    assert "to change" not in words(client.get("/memories/"))


def test_what_it_takes_the_place_of(visit, owner, me, cautious, add):
    add(me, "The user lives in Porto.", category="profile", field="city")
    add(cautious, "The user lives in Lisbon.", category="profile", field="city")
    page = visit(owner).get("/review/")
    assert "Would replace: You live in Porto." in words(page)
    assert re.search(r"<del>.*?Porto</del><ins>.*?Lisbon</ins>", text(page))
    assert 'name="subject"' not in text(page)


@pytest.mark.parametrize(("why", "shown"), [("person", False), ("withheld", False), ("replaced", True)])
def test_what_it_took_the_place_of_is_not_shown_once_forgotten(visit, owner, me, bot, add, why, shown):
    old, new = add(bot), add(bot, HENS)
    Relation.objects.create(user=owner, from_memory=new, to_memory=old, type="supersedes", strength=0.9)
    actions.memory_archive(me, old.pk)
    Memory.objects.filter(pk=old.pk).update(deleted_why=why)
    assert ("bees" in words(visit(owner).get("/review/"))) is shown


def test_a_possible_double_stands_beside_the_other(visit, owner, me, bot, add, settings):
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.05
    add(me, "The user has two hens behind the house.")
    double = add(me, "The user has three hens behind the house.")
    Memory.objects.filter(pk=double.pk).update(needs_check=True)
    page = words(visit(owner).get("/review/"))
    assert "That one You have two hens behind the house." in page
    assert "From that to this:" in page
    assert "They are alike. Say whether both are true, or which of the two." in page
    own_page = f"/memories/{double.pk}/"
    leads_here = f'href="/review/?item=memory-{double.pk}"'
    assert leads_here in text(visit(owner).get(own_page))
    decide(visit(owner), double, "approve")
    assert not now(double).needs_check
    assert leads_here not in text(visit(owner).get(own_page))
    assert "Nothing waits" in words(visit(owner).get("/review/"))


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Nora likes jazz.", BEES),
        ("The user's mother Margriet is 81.", "The user's mother Margriet came to stay."),
        ("The user was married to Ingeborg for 41 years.", "The user's wife Ingeborg passed away in 2019."),
    ],
)
def test_what_says_other_things_is_no_double(visit, owner, me, add, settings, known, new):
    settings.MEMORY_LINK_MIN_SIMILARITY = -1.0
    add(me, known)
    double = add(me, new)
    Memory.objects.filter(pk=double.pk).update(needs_check=True)
    page = words(visit(owner).get("/review/"))
    assert "They are alike" not in page
    assert "That one" not in page


@pytest.mark.parametrize(("later", "doubled"), [(0, True), (1, False)])
def test_what_a_model_found_at_odds_is_a_double_until_one_is_reworded(visit, owner, me, add, settings, later, doubled):
    settings.MEMORY_LINK_MIN_SIMILARITY = -1.0
    known, new = add(me, "The user never leaves Porto."), add(me, "The user commutes to Lisbon.")
    Memory.objects.filter(pk=new.pk).update(needs_check=True)
    ComparedPair.objects.create(
        user=owner, kept=known, dropped=new, kept_version=1, dropped_version=1, score=80, verdict="contradicts",
        asked=True,
    )  # fmt: skip
    if later:
        actions.memory_update(me, known.pk, "The user seldom leaves Porto.")
    page = words(visit(owner).get(f"/review/?item=memory-{new.pk}"))
    assert ("They are alike" in page) is doubled


@pytest.mark.parametrize(
    ("decision", "this", "that"),
    [("approve", "active", "active"), ("this_one", "active", "rejected"), ("reject", "rejected", "active")],
)
def test_of_two_memories_both_this_or_that_is_true(visit, owner, me, add, decision, this, that):
    other, double = add(me, HENS), add(me, BEES)
    Memory.objects.filter(pk=double.pk).update(needs_check=True)
    client = visit(owner)
    decide(client, double, decision, version=1, rival=other.pk, rival_version=1)
    assert (now(double).state, now(other).state) == (this, that)
    (undo,) = undo_addresses(text(client.get("/review/")))
    client.post(undo, {"next": "/review/"})
    assert (now(double).state, now(double).needs_check, now(other).state) == ("active", True, "active")


def test_nearest_memories(visit, owner, me, cautious, add, settings):
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.05
    add(me, "The user grows tomatoes in a garden.")
    create = add(cautious, TOMATOES)
    add(cautious, "The user grows tomatoes in paint tins.")
    client = visit(owner)
    page = words(client.get(f"/review/?item={item_of(create).key}"))
    near = page.split("Nearest memories you have")[1]
    assert "You grow tomatoes in a garden." in near
    assert "You grow tomatoes in paint tins. waits too" in near
    Memory.objects.filter(pk=create.pk).update(embedding=None, embedding_model="", index_not_before=timezone.now())
    assert "Nearest memories" not in words(client.get(f"/review/?item={item_of(create).key}"))


def test_who_would_see_it(visit, owner, agent, create, cautious, add):
    AgentFactory(owner=owner, name="stylist bot", role="stylist")
    GrantFactory(user=owner, agent=AgentFactory(owner=owner, name="kept out"), revoked_at=timezone.now())
    GrantFactory(user=owner, agent=AgentFactory(owner=owner, name="narrow"), categories=["profile"])
    client = visit(owner)
    assert "it is in every prompt of agent." in words(client.get("/review/"))
    for number in range(7):
        AgentFactory(owner=owner, name=f"bot {number}")
    assert "of agent, bot 0, bot 1, bot 2, bot 3, bot 4 and 2 more." in words(client.get("/review/"))
    PreferencesFactory(user=owner, has_memory=False)
    assert "Memory is switched off: no agent sees anything of it." in words(client.get("/review/"))


def test_a_memory_of_which_no_agent_may_know(visit, stranger, add):
    add(principal_for_person(stranger.pk))
    Memory.objects.update(needs_check=True)
    page = words(visit(stranger).get("/review/"))
    assert "In your own words" in page
    assert "none of yours may so far" in page


def test_stored_text_is_shown_as_text(visit, owner, me, cautious, add, said):
    script = "<script>alert('bees')</script>"
    message = said(f"Bees {script}")
    Conversation.objects.filter(pk=message.conversation_id).update(title=script)  # The gates refuse such a title.
    memory = add(me, f"The user keeps {script} bees.", subject=script)
    actions.memory_update(cautious, memory.pk, "The user keeps hens.", message_id=message.pk)
    actions.memory_archive(cautious, memory.pk)
    actions.place_remove(cautious, actions.place_add(me, "home", f"Home {script}", script).place.pk)
    client = visit(owner)
    for proposal in Proposal.objects.all():
        page = text(client.get(f"/review/?item={item_of(proposal).key}"))
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page


# --- Decide, and the next ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["approve", "edit", "reject"])
@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("kind", ["create", "unreviewed"])
def test_a_decision_about_a_memory_leads_on_and_back(visit, owner, cautious, bot, add, kind, decision, htmx):
    memory = add(cautious if kind == "create" else bot, TOMATOES, subject="Garden")
    add(bot, "The user has a sister.")
    client = visit(owner, htmx=htmx)
    before = now(memory)
    typed = {"content": "Tomatoes grow on my balconies.", "category": "interests", "subject": "Balcony"}
    answer = decide(client, memory, decision, version=1, **typed)
    if htmx:
        assert answer["HX-Replace-Url"] == f"/review/?item=memory-{memory.pk}"
        assert re.search(r'<div id="said" hx-swap-oob="innerHTML">[^<]+ 2 of 2\.</div>', text(answer))
    else:
        assert answer.url == f"/review/?item=memory-{memory.pk}#item"
        answer = client.get(answer.url)
    assert "You have a sister." in words(answer)
    after = now(memory)
    assert after.state == ("rejected" if decision == "reject" else "active")
    if decision == "edit":
        assert (after.content, after.category, after.subject) == tuple(typed.values())
        assert (after.written_by, after.reviewed_at is not None) == ("", True)
    if decision == "reject":
        assert after.state_reason == "Not true"
    (undo,) = undo_addresses(text(answer))
    answer = client.post(undo, {"next": f"/review/?item=memory-{memory.pk}"})
    answer = answer if htmx else client.get(answer.url)
    assert "1 of 2" in words(answer)
    assert undo_addresses(text(answer)) == []
    after = now(memory)
    assert (after.state, after.content, after.category, after.subject, after.reviewed_at) == (
        before.state, before.content, before.category, before.subject, None,
    )  # fmt: skip
    assert not Suppression.objects.exists()


@pytest.mark.parametrize("decision", ["approve", "edit", "reject"])
@pytest.mark.parametrize("htmx", [False, True])
def test_a_decision_about_a_change_leads_on_and_back(visit, owner, update, decision, htmx):
    client, memory = visit(owner, htmx=htmx), update.memory
    typed = {"content": "We keep hens.", "category": "context", "subject": "Hens"}
    answer = decide(client, update, decision, version=1, **typed)
    answer = answer if htmx else client.get(answer.url)
    expected = {"approve": (HENS, ""), "edit": ("We keep hens.", "Hens"), "reject": (BEES, "")}
    assert (now(memory).content, now(memory).subject) == expected[decision]
    assert now(update).state == ("rejected" if decision == "reject" else "approved")
    (undo,) = undo_addresses(text(answer))
    answer = client.post(undo, {"next": "/review/"})
    answer = answer if htmx else client.get(answer.url)
    assert (now(memory).content, now(memory).subject, now(update).state) == (BEES, "", "waiting")
    assert "1 of 1" in words(answer)
    assert "We have hens now, not bees." in words(answer)


@pytest.mark.parametrize(("decision", "state"), [("approve", "archived"), ("reject", "active")])
def test_a_decision_about_forgetting(visit, owner, me, cautious, add, decision, state):
    memory = add(me)
    proposal = actions.memory_archive(cautious, memory.pk).proposal
    client = visit(owner)
    decide(client, proposal, decision, version=1)
    assert now(memory).state == state
    page = text(client.get("/review/"))
    assert "You keep bees behind the house." in page  # Among the latest decisions.
    client.post(undo_addresses(page)[0], {"next": "/review/"})
    assert (now(memory).state, now(proposal).state) == ("active", "waiting")


def test_decisions_about_places(visit, owner, me, cautious):
    client = visit(owner)
    proposal = actions.place_add(cautious, "home", "Home", "By the river").proposal
    decide(client, proposal, "edit", version=0, name="Our house", notes="By the river")
    place = Place.objects.get()
    assert (place.name, place.notes) == ("Our house", "By the river")
    page = text(client.get("/review/"))
    assert "Our house" not in words(client.get("/review/")).split("Latest decisions")[0]
    client.post(undo_addresses(page)[0], {"next": "/review/"})
    assert now(place).deleted_at
    assert now(proposal).state == "waiting"
    decide(client, proposal, "approve", version=1)
    assert (now(place).name, now(place).deleted_at) == ("Home", None)
    removal = actions.place_remove(cautious, place.pk).proposal
    decide(client, removal, "approve", version=now(place).version)
    assert now(place).deleted_at
    client.post(undo_addresses(text(client.get("/review/")))[0], {"next": "/review/"})
    assert now(place).deleted_at is None
    decide(client, removal, "reject")
    assert now(place).deleted_at is None
    assert now(removal).state == "rejected"


def test_saving_what_was_shown_approves_it_as_it_was(visit, owner, create, update):
    client = visit(owner)
    decide(client, create, "edit", version=1, content=f" {TOMATOES}\n", category="context", subject="Garden")
    assert (now(create).state, now(create).version) == ("active", 1)
    decide(client, update, "edit", version=1, content=HENS, category="context", subject="")
    assert (now(update.memory).content, now(update.memory).written_by) == (HENS, "agent")
    assert len(undo_addresses(text(client.get("/review/")))) == 2


def test_only_what_was_changed_is_stored(visit, owner, update):
    decide(visit(owner), update, "edit", version=1, content=HENS, category="event", subject="")
    memory = now(update.memory)
    assert (memory.content, memory.category, memory.written_by) == (HENS, "event", "agent")


def test_an_undo_files_it_as_it_was_filed_whatever_its_version_says(visit, owner, bot, add):
    memory = add(bot)
    actions.memory_amend(bot, memory.pk, subject="Bees")  # After its version was recorded.
    client = visit(owner)
    decide(client, memory, "edit", version=1, content="Bees live here.", category="context", subject="Hives")
    (undo,) = undo_addresses(text(client.get("/review/")))
    answer = client.post(undo, {"next": "/review/"})
    assert "Undone: it is as it was before." in words(client.get(answer.url))
    assert (now(memory).content, now(memory).subject, now(memory).reviewed_at) == (BEES, "Bees", None)


def test_a_doubt_comes_back_with_an_undo(visit, owner, bot, add):
    memory = add(bot)
    Memory.objects.filter(pk=memory.pk).update(needs_check=True)
    client = visit(owner)
    decide(client, memory, "edit", version=1, content="Bees live here.", category="context", subject="")
    assert not now(memory).needs_check
    client.post(undo_addresses(text(client.get("/review/")))[0], {"next": "/review/"})
    assert now(memory).needs_check


# --- Too late -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    ("meanwhile", "told"),
    [
        (actions.proposal_approve, "This was approved meanwhile, so there is nothing left to decide."),
        (actions.proposal_reject, "This was rejected meanwhile, so there is nothing left to decide."),
    ],
)
def test_what_somebody_decided_meanwhile_is_told(visit, owner, me, update, meanwhile, told, htmx):
    meanwhile(me, update.pk)
    before = now(update.memory).content
    for decision in ("approve", "edit", "reject"):
        answer = decide(visit(owner, htmx=htmx), update, decision, version=1, content="Geese.....", category="context")
        assert answer.status_code == 409
        assert told in words(answer)
        assert now(update.memory).content == before


def test_a_new_memory_that_was_decided_about_meanwhile(visit, owner, me, create):
    actions.memory_reject(me, create.pk)
    answer = decide(visit(owner), create, "approve", version=1)
    assert answer.status_code == 409
    assert "was rejected meanwhile" in words(answer)


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("kind", ["create", "update"])
def test_what_lapsed_meanwhile_is_told(visit, owner, create, update, kind, swept):
    thing = {"create": create, "update": update}[kind]
    client = visit(owner, htmx=True)
    with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
        if swept:
            actions.proposals_lapse()
        answer = decide(client, thing, "approve", version=1)
    gone = kind == "create" and swept
    assert answer.status_code == (404 if gone else 409)
    assert ("its days were over" if gone else "so it has expired") in words(answer)
    assert not Memory.objects.filter(state="active").exclude(content=BEES).exists()


def test_a_change_of_a_memory_that_was_reworded_meanwhile(visit, owner, me, update):
    client, memory = visit(owner), update.memory
    actions.memory_update(me, memory.pk, "The user keeps geese behind the house.")
    answer = decide(client, update, "approve", version=1)
    assert answer.status_code == 409
    assert "This memory was changed meanwhile." in words(answer)
    assert re.search(r"<del>.*?geese</del><ins>.*?hens</ins>", text(answer))
    assert "was changed after this was proposed" in words(answer)
    decide(client, update, "approve", version=2)
    assert now(memory).content == HENS
    client.post(undo_addresses(text(client.get("/review/")))[0], {"next": "/review/"})
    assert now(memory).content == "The user keeps geese behind the house."


def test_two_windows_edit_one_memory_and_lose_nothing(visit, owner, bot, add):
    memory = add(bot)
    client = visit(owner)
    actions.memory_update(bot, memory.pk, HENS)
    answer = decide(client, memory, "edit", version=1, content="My bees.", category="context", subject="")
    assert answer.status_code == 409
    assert ">My bees.</textarea>" in text(answer)
    assert "Save mine over it" in words(answer)
    assert re.search(r"What changed:.*<del>.*?bees</del>", text(answer), re.DOTALL)
    assert now(memory).content == HENS
    decide(client, memory, "edit", version=2, content="My bees.", category="context", subject="")
    assert now(memory).content == "My bees."


def test_what_its_change_was_about_is_gone(visit, owner, me, update):
    actions.memory_archive(me, update.memory_id)
    client = visit(owner)
    page = client.get("/review/")
    assert "What this would change is not there any more" in words(page)
    assert re.findall(r'data-key="(\w)"', text(page)) == ["k", "j", "r"]
    answer = decide(client, update, "approve", version=1)
    assert answer.status_code == 409
    assert "put away meanwhile" in words(answer)
    decide(client, update, "reject")
    assert now(update).state == "rejected"


def test_an_undo_of_what_was_reworded_since_is_refused(visit, owner, me, bot, add, update):
    memory = add(bot, TOMATOES)
    client = visit(owner)
    decide(client, memory, "edit", version=1, content="Tomatoes grow here.", category="context", subject="")
    decide(client, update, "approve", version=1)
    undo_update, undo_edit = undo_addresses(text(client.get("/review/")))
    actions.memory_update(me, memory.pk, "The user grew tomatoes once.")
    actions.memory_update(me, update.memory_id, "The user keeps geese.")
    for undo in (undo_update, undo_edit):
        assert client.post(undo, {"next": "/review/"}).status_code == 409
    assert now(memory).content == "The user grew tomatoes once."


def test_what_is_refused_stays_typed(visit, owner, create):
    typed = {"content": "My password is hunter2hunter2", "category": "context", "subject": "X"}
    answer = decide(visit(owner), create, "edit", version=1, **typed)
    assert answer.status_code == 422
    assert ">My password is hunter2hunter2</textarea>" in text(answer)
    assert 'value="X"' in text(answer)
    assert now(create).state == "proposed"


@pytest.mark.parametrize(
    "path",
    [
        "/review/memory-abcdefgh/approve/",
        "/review/proposal-3f2504e0-4f89-41d3-9a0c-0305e82c3301/approve/",
        "/review/nothing/approve/",
    ],
    ids=["memory", "proposal", "no key"],
)
def test_what_is_not_there(visit, owner, create, path):
    client = visit(owner)
    assert client.post(path, {"next": "/review/"}).status_code == 404
    answer = visit(owner, htmx=True).post(path, {"next": "/review/"})
    assert answer.status_code == 404
    assert "not there any more" in words(answer)
    assert second_person(TOMATOES) in words(answer)


def test_what_makes_no_sense(visit, owner, create, update):
    client = visit(owner)
    assert decide(client, create, "share").status_code == 404
    assert decide(client, update, "share").status_code == 404
    assert client.post("/undo/998/999/", {"next": "/review/"}).status_code == 404
    assert client.get(f"/review/memory-{create.pk}/approve/").status_code == 405
    assert now(create).state == "proposed"


# --- Cost ---------------------------------------------------------------------------------------------------------

QUERIES = {"create": 17, "update": 16, "place": 11, "unreviewed": 17}
DECISIONS = {"create": 35, "update": 45, "place": 34, "unreviewed": 29}


@pytest.mark.parametrize("much", [1, 5])
@pytest.mark.parametrize("kind", ["create", "update", "place", "unreviewed"])
def test_the_queue_costs_the_same_however_much_waits(
    visit, owner, me, bot, cautious, add, said, settings, django_assert_num_queries, kind, much
):
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.05
    made = []
    for number in range(3 * much):
        message = said(f"We grew {number + 3} tomatoes.")
        content = f"The user grew {number + 3} tomatoes."
        if kind == "create":
            made.append(add(cautious, content, message=message))
        elif kind == "unreviewed":
            made.append(add(bot, content, message=message))
        elif kind == "place":
            place = actions.place_add(cautious, f"p{number}", f"Place {number}", message_id=message.pk)
            made.append(place.proposal)
        else:
            memory = add(me, content)
            new = f"{content[:-1]} each year."
            made.append(actions.memory_update(cautious, memory.pk, new, message_id=message.pk).proposal)
    client = visit(owner, htmx=True)
    decide(client, made[-1], "reject")
    with django_assert_num_queries(QUERIES[kind]):
        client.get("/review/")
    with django_assert_num_queries(DECISIONS[kind]):
        decide(client, made[0], "approve", version=0 if kind == "place" else 1)
