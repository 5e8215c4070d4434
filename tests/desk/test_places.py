"""The pages of places: who sees which, what can be done, and where each was mentioned."""

import re

import pytest

from assistant.erasure.actions import run_erasure
from conversations.actions import NewMessage, conversation_create, messages_append
from journal.models import Erasure, JobRun
from memories import actions
from memories.models import Place
from tests.factories import PreferencesFactory, agent_principal
from tests.memories.rows import remember

from .conftest import text, words


@pytest.fixture
def home(me):
    return actions.place_add(me, "home", "Home", "By the river").place


@pytest.fixture
def said(me):
    """``said("We were at Home.")``: a message of the owner, in a conversation of its own."""

    def said(content, title="Over the fence"):
        conversation = conversation_create(me, title=title)
        new = [NewMessage("assistant", "Where were you?"), NewMessage("user", content)]
        return messages_append(me, conversation.pk, new)[1]

    return said


def now(place):
    return Place.objects.get(pk=place.pk)


def address(place, what=""):
    return f"/places/{place.pk}/{what}"


def test_the_list(visit, owner, me, home, said):
    for text_ in ("We were at Home.", "Home again."):
        actions.place_mention(me, home.pk, said(text_).pk)
    gone = actions.place_add(me, "attic", "The attic").place
    actions.place_remove(me, gone.pk)
    client = visit(owner)
    page = words(client.get("/places/"))
    assert "Places 1" in page
    assert "Removed 1" in page
    assert "Home By the river Mentioned 2 times in 2 conversations, last on" in page
    assert "The attic" not in page
    removed = words(client.get("/places/?show=removed"))
    assert "The attic" in removed
    assert "Deleted for good on" in removed
    assert "Not mentioned in a conversation yet." in removed


def test_it_is_searched(visit, owner, me, home):
    actions.place_add(me, "attic", "The attic", "Boxes")
    client = visit(owner)
    page = words(client.get("/places/?search=boxes"))
    assert "The attic" in page
    assert "By the river" not in page
    assert "1 found here." in page
    assert "Nothing found here." in words(client.get("/places/?search=cellar"))


def test_it_has_pages(visit, owner, me):
    for number in range(25):
        actions.place_add(me, f"p{number}", f"Place {number:02}")
    client = visit(owner)
    assert "Place 24" not in words(client.get("/places/"))
    assert 'href="?page=2"' in text(client.get("/places/"))
    assert "Place 24" in words(client.get("/places/?page=2"))


@pytest.mark.parametrize("who", ["stranger", "member", "staff"])
def test_others_see_and_change_nothing(visit, request, home, who):
    client = visit(request.getfixturevalue(who))
    assert "By the river" not in words(client.get("/places/"))
    assert client.get(address(home)).status_code == 404
    for what in ("edit/", "remove/", "restore/"):
        assert client.post(address(home, what), {"name": "Mine"}).status_code == 404
        assert client.get(address(home, what)).status_code == 405
    assert (now(home).name, now(home).deleted_at) == ("Home", None)


@pytest.mark.parametrize("path", ["/places/", "/places/3f2504e0-4f89-41d3-9a0c-0305e82c3301/"])
def test_nobody_is_sent_to_sign_in(visit, path):
    assert visit().get(path).url == f"/sign-in/?next={path}"


def test_who_has_none_is_told_where_they_come_from(visit, owner):
    client = visit(owner)
    assert "Agents add the places that you talk about" in words(client.get("/places/"))
    assert "No place was removed." in words(client.get("/places/?show=removed"))


def test_one_is_added_and_that_taken_back(visit, owner):
    client = visit(owner)
    answer = client.post("/places/", {"name": "The Blue Door", "notes": "Nazaré"})
    assert answer.url == "/places/"
    place = Place.objects.get()
    assert (place.name, place.notes, place.place_id[:14]) == ("The Blue Door", "Nazaré", "the-blue-door-")
    page = client.get("/places/")
    assert f'action="{address(place, "remove/")}"' in text(page)
    client.post(address(place, "remove/"), {"next": "/places/"})
    assert now(place).deleted_at


def test_a_name_of_signs_alone_gets_an_id_too(visit, owner):
    visit(owner).post("/places/", {"name": "☕"})
    assert len(Place.objects.get().place_id) == 8


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ({"name": " home "}, "You have a place of this name already."),
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 201}, "at most 200 characters"),
        ({"name": "Bank", "notes": "card 4111 1111 1111 1111"}, "card"),
    ],
    ids=["twin", "no name", "long", "secret"],
)
def test_what_can_not_be_added_says_why(visit, owner, home, typed, why):
    answer = visit(owner).post("/places/", typed)
    assert answer.status_code == 400
    assert why in words(answer)
    assert Place.objects.get() == home


def test_a_place_shows_where_it_was_mentioned(visit, owner, me, home, said):
    actions.place_mention(me, home.pk, said("On Sunday we were at Home, and it rained.").pk)
    page = visit(owner).get(address(home))
    assert "<mark>Home</mark>, and it rained." in text(page)
    said_there = words(page)
    assert "In “Over the fence”, message 2" in said_there
    assert "The assistant: Where were you?" in said_there
    assert "Mentioned 1 time in 1 conversation" in said_there
    assert "No conversation names it yet." in words(visit(owner).get(address(actions.place_add(me, "x", "X").place)))


@pytest.mark.parametrize(
    ("content", "shown"),
    [("We left HOME early.", "We left <mark>HOME</mark> early."), ("We left it early.", "We left it early.</p>")],
    ids=["in capitals", "not named"],
)
def test_a_place_quotes_what_was_said_and_nothing_else(visit, owner, me, home, said, content, shown):
    """A mention is the newest message where none names the place."""
    actions.place_mention(me, home.pk, said(content).pk)
    page = text(visit(owner).get(address(home)))
    assert shown in page
    assert "<mark>Home</mark>" not in page


def test_a_place_is_edited(visit, owner, home):
    client = visit(owner)
    answer = client.post(address(home, "edit/"), {"name": "Our house", "notes": "On the hill", "version": "1"})
    assert answer.url == address(home)
    assert (now(home).name, now(home).notes, now(home).version) == ("Our house", "On the hill", 2)
    assert "Saved." in words(client.get(answer.url))


@pytest.mark.parametrize(
    ("typed", "status", "why"),
    [
        ({"name": ""}, 400, "This field is required."),
        ({"name": "Home", "notes": "card 4111 1111 1111 1111"}, 422, "card"),
        ({"name": "Mine", "version": "9"}, 409, "Somebody changed this place meanwhile."),
    ],
    ids=["no name", "secret", "stale"],
)
def test_an_edit_that_is_refused_keeps_what_was_typed(visit, owner, home, typed, status, why):
    answer = visit(owner).post(address(home, "edit/"), typed)
    assert answer.status_code == status
    assert why in words(answer)
    assert f'name="name" value="{typed["name"]}"' in text(answer) or not typed["name"]
    assert now(home).version == 1


def test_what_was_typed_for_an_older_place_can_be_saved_over_the_newer(visit, owner, me, home):
    actions.place_edit(me, home.pk, notes="By the sea")
    client = visit(owner)
    answer = client.post(address(home, "edit/"), {"name": "Home", "notes": "On the hill", "version": "1"})
    assert answer.status_code == 409
    assert "By the sea" in words(answer)
    form = text(answer).split(f'action="{address(home, "edit/")}"')[1].split("</form>")[0]
    assert 'name="version" value="2"' in form
    assert "On the hill</textarea>" in form
    client.post(address(home, "edit/"), {"name": "Home", "notes": "On the hill", "version": "2"})
    assert now(home).notes == "On the hill"


def test_an_edit_of_a_place_that_was_removed_says_so(visit, owner, me, home):
    actions.place_remove(me, home.pk)
    answer = visit(owner).post(address(home, "edit/"), {"name": "Mine", "version": str(now(home).version)})
    assert answer.status_code == 409
    assert "This place was removed." in words(answer)


def test_a_place_is_removed_and_restored(visit, owner, home):
    client = visit(owner)
    client.post(address(home, "remove/"), {"next": "/places/", "version": "1"})
    assert now(home).deleted_at
    (undo,) = re.findall(r'action="(/undo/[^"]+)"', text(client.get("/places/")))
    assert "Restore this place" in words(client.get(address(home)))
    answer = client.post(address(home, "restore/"), {"next": address(home)})
    assert answer.url == address(home)
    assert now(home).deleted_at is None
    assert "1 changed since" in words(client.post(undo, {"next": "/places/"}, follow=True))


def test_where_else_its_notes_are_said_is_offered_when_a_place_is_removed(visit, owner, me, said):
    """Only rejecting a memory offered it: what a memory said of the notes stayed in every prompt."""
    clinic = actions.place_add(me, "clinic", "Marlow", "Where I was treated for gambling.").place
    kept, other = remember(owner, "The user was treated for gambling.", "The user lives near Marlow.")
    message = said("In 2019 I was treated for gambling. We ate plums.")
    client = visit(owner)
    shown = client.post(address(clinic, "remove/"), {"next": "/places/"}, follow=True)
    assert "Said in 2 other places" in words(shown)
    assert "Marlow" not in words(shown).partition("Said in")[2]
    (form,) = re.findall(r'action="(/withheld/also/place/[^"]+)"', text(shown))
    keys = re.findall(r'name="also" value="([^"]+)"', text(shown))
    assert sorted(keys) == sorted([f"memory-{kept.pk}", f"message-{message.pk}"])
    done = client.post(form, {"also": keys}, follow=True)
    assert "Withheld in 2 other places more." in words(done)
    kept.refresh_from_db()
    message.refresh_from_db()
    assert (kept.state, message.content) == ("rejected", "[withheld] We ate plums.")
    (undo,) = re.findall(r'action="(/undo/[^"]+)"', text(done))
    client.post(undo)
    kept.refresh_from_db()
    message.refresh_from_db()
    assert (kept.state, message.content) == ("active", "In 2019 I was treated for gambling. We ate plums.")
    other.refresh_from_db()
    assert other.state == "active"


def test_so_is_what_an_erasure_of_it_leaves(api, owner, me):
    clinic = actions.place_add(me, "clinic", "Marlow", "Where I was treated for gambling.").place
    (kept,) = remember(owner, "The user was treated for gambling.")
    answer = api(owner).get(f"/api/v1/erase/?scope=place&id={clinic.pk}")
    assert [each["object"] for each in answer.json()["also_said"]] == [kept.pk]


@pytest.mark.parametrize(("what", "why"), [("remove/", "was removed"), ("restore/", "was not removed")])
def test_what_was_done_already_is_told(visit, owner, me, home, what, why):
    if what == "remove/":
        actions.place_remove(me, home.pk)
    client = visit(owner)
    assert why in words(client.post(address(home, what), follow=True))


def test_a_place_is_erased_for_good_from_its_page(visit, owner, stranger, me, home, agent):
    client, page = visit(owner), f"{address(home)}erase/"
    assert f'href="{page}"' in text(client.get(address(home)))
    shown = words(client.get(page))
    assert "Delete this place for good? Home" in shown
    assert "Messages that name it stay." in shown
    assert visit(stranger).post(page, {"at_once": "yes"}).status_code == 404
    answer = client.post(page, {"at_once": "yes"})
    erasure = Erasure.objects.get(scope="place")
    assert answer.url == f"/erased/{erasure.pk}/"
    run_erasure(JobRun.objects.get(kind="erase").pk)
    assert not Place.objects.filter(pk=home.pk).exists()
    assert client.get(page).status_code == 410
    assert visit(stranger).get(page).status_code == 404


def test_who_sees_them(visit, owner, agent, home):
    client = visit(owner)
    assert "They stand in every prompt of agent" in words(client.get("/places/"))
    assert "In every prompt of agent." in words(client.get(address(home)))
    PreferencesFactory(user=owner, has_memory=False)
    assert "memory is switched off now" in words(client.get("/places/"))
    assert "no agent sees it" in words(client.get(address(home)))


def test_what_waits_is_told(visit, owner, agent, home):
    cautious = agent_principal(agent, review="before")
    proposal = actions.place_edit(cautious, home.pk, notes="By the sea").proposal
    client = visit(owner)
    assert "1 proposal about places waits for you." in words(client.get("/places/"))
    assert f'href="/review/?item=proposal-{proposal.pk}"' in text(client.get(address(home)))


def test_stored_text_is_shown_as_text(visit, owner, me, said):
    script = "<script>alert('home')</script>"
    place = actions.place_add(me, "home", f"Home {script}", script).place
    actions.place_mention(me, place.pk, said(f"At Home {script}", title=script).pk)
    for path in ("/places/", address(place)):
        page = text(visit(owner).get(path))
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


QUERIES = {"list": 8, "place": 11}


@pytest.mark.parametrize("much", [1, 6])
def test_the_pages_cost_the_same_however_much_there_is(
    visit, owner, me, agent, home, said, django_assert_num_queries, much
):
    for number in range(much):
        actions.place_add(me, f"p{number}", f"Place {number}")
        actions.place_mention(me, home.pk, said(f"At Home, {number}.").pk)
    client = visit(owner)
    with django_assert_num_queries(QUERIES["list"]):
        client.get("/places/")
    with django_assert_num_queries(QUERIES["place"]):
        client.get(address(home))
