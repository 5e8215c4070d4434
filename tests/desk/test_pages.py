"""Every page by everybody: owner, member, stranger, staff and nobody."""

from itertools import pairwise
from urllib.parse import quote
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from accounts.models import Legacy
from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.models import LegacyFact
from journal.models import Ledger
from tests.factories import (
    ConversationFactory,
    LegacyFactFactory,
    LegacyFactory,
    PreferencesFactory,
    UserFactory,
    fact_waits,
)

from .conftest import fact_list, opened, rail, text, words

ROW = 'class="fact line'
EVERYBODY = ["owner", "member", "stranger", "staff"]


@pytest.fixture
def everybody(owner, member, stranger, staff):
    return {"owner": owner, "member": member, "stranger": stranger, "staff": staff}


# --- Signing in and out -------------------------------------------------------------------------------------------


def test_sign_in_leads_to_where_one_wanted_to_go(visit, legacy, owner):
    owner.set_password("a good long one")
    owner.save()
    client = visit()
    wanted = fact_list(legacy, "waiting")
    first = client.get(wanted)
    assert first.status_code == 302
    assert first.url == f"/sign-in/?next={quote(wanted, safe='/')}"
    answer = client.post(first.url, {"username": "owner", "password": "a good long one", "next": wanted})
    assert answer.url == wanted
    assert client.get(wanted).status_code == 200
    assert client.get("/sign-in/").url == "/"


def test_sign_in_does_not_lead_away(visit, owner):
    owner.set_password("a good long one")
    owner.save()
    away = {"username": "owner", "password": "a good long one", "next": "https://elsewhere.example/"}
    assert visit().post("/sign-in/", away).url == "/"


def test_a_wrong_password_is_told_in_words(visit, owner):
    answer = visit().post("/sign-in/", {"username": "owner", "password": "wrong"})
    assert answer.status_code == 200
    assert "Please enter a correct username and password" in text(answer)
    assert 'role="alert"' in text(answer)


def test_who_is_not_active_is_out_at_once(visit, owner):
    client = visit(owner)
    owner.is_active = False
    owner.save()
    assert client.get("/").url.startswith("/sign-in/")


def test_sign_out_is_a_post(visit, owner):
    client = visit(owner)
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/").url == "/sign-in/"
    assert client.get("/").status_code == 302


def test_the_demo_is_mentioned_only_when_it_is_there(visit, owner):
    assert "demo" not in text(visit().get("/sign-in/")).lower()
    assert "demo" not in text(visit(owner).get("/")).lower()


# --- Home -----------------------------------------------------------------------------------------------------------


def test_home_tells_a_newcomer_what_to_do(visit, stranger):
    page = text(visit(stranger).get("/"))
    assert "Nothing is remembered yet" in page
    assert "/agents/connect/" in page
    assert "manage.py" not in page
    assert "/api/docs/" in page


def test_home_shows_what_waits(visit, owner, member, legacy, told):
    told(owner, legacy, "Grandmother Rosa was a midwife. She was patient.")
    LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    page = text(visit(owner).get("/"))
    assert "2 facts wait for your review" in page
    assert "Grandmother Rosa" in page
    assert fact_list(legacy, "waiting") in page
    assert "Sunday talk" in page
    assert "1 message, 1 read for facts" in page
    assert "Nothing waits for you" in text(visit(member).get("/"))


def test_a_legacys_page_leads_to_a_talk_about_them(visit, owner, legacy):
    address = f"/talk/?about={legacy.pk}"
    assert address in text(visit(owner).get(f"/legacies/{legacy.pk}/"))
    assert f'<option value="{legacy.pk}" selected>' in text(visit(owner).get(address))


def test_home_shows_no_one_elses_legacies_and_talks(visit, owner, stranger, staff, legacy, told):
    told(owner, legacy, "Grandmother Rosa was a midwife.")
    for person in (stranger, staff):
        page = text(visit(person).get("/"))
        assert "Grandmother Rosa" not in page
        assert "Sunday talk" not in page


def test_home_has_pages(visit, owner):
    for number in range(25):
        LegacyFactory(name=f"Legacy {number:02}", owner=owner)
    client = visit(owner)
    first, second = text(client.get("/")), text(client.get("/?page=2"))
    assert "Page 1 of 2" in first
    assert 'href="?page=2"' in first
    assert "Legacy 24" not in first
    assert "Legacy 24" in second
    assert 'href="?page=1"' in second


def test_only_staff_see_the_way_to_the_admin(visit, owner, staff):
    assert "/admin/" not in text(visit(owner).get("/"))
    assert "/admin/" in text(visit(staff).get("/"))


# --- A legacy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "status"), list(zip(EVERYBODY, [200, 200, 404, 404], strict=True)))
def test_who_sees_a_legacy(visit, everybody, legacy, who, status):
    answer = visit(everybody[who]).get(fact_list(legacy))
    assert answer.status_code == status
    assert ("Grandmother Rosa" in text(answer)) == (status == 200)


@pytest.mark.parametrize("path", ["/", "/legacies/{legacy}/?show=gone", "/legacies/{other}/"])
def test_nobody_is_sent_to_sign_in(visit, legacy, path):
    path = path.format(legacy=legacy.pk, other=uuid4())
    answer = visit().get(path)
    assert answer.status_code == 302
    assert answer.url == f"/sign-in/?next={quote(path, safe='/')}"


def test_a_legacy_that_is_none_is_not_found(visit, owner):
    assert visit(owner).get(f"/legacies/{uuid4()}/").status_code == 404


def test_what_each_sees_of_a_fact(visit, everybody, legacy, told):
    private, shared = told(everybody["owner"], legacy, "Grandmother Rosa was a midwife. She was patient.")
    actions.fact_set_visibility(principal_for_person(everybody["owner"].pk), shared.pk, "shared")
    mine, member = visit(everybody["owner"]), visit(everybody["member"])
    assert f"{private.content} To review From a talk" in words(mine.get(fact_list(legacy)))
    own = opened(mine, shared, fact_list(legacy))
    assert "Found by the built-in rules on" in words(own)
    assert "<mark>She was patient.</mark>" in text(own)
    assert "You, in “Sunday talk”, message 1" in words(own)
    theirs = words(member.get(fact_list(legacy, "shared")))
    assert f"{shared.content} Olga Owner" in theirs
    assert private.content not in theirs
    # Sharing a fact shares neither the words around it nor where they were said.
    part = text(opened(member, shared, fact_list(legacy, "shared")))
    assert "From Olga Owner" in part
    assert not any(secret in part for secret in ("Sunday talk", "<mark>", f'action="/facts/{shared.pk}/'))
    assert opened(member, private, fact_list(legacy)).status_code == 404
    for who in ("stranger", "staff"):
        assert opened(visit(everybody[who]), shared, fact_list(legacy)).status_code == 404
    assert opened(visit(), shared, fact_list(legacy))["HX-Redirect"].startswith("/sign-in/")
    own_page = text(member.get(f"/facts/{shared.pk}/"))
    assert "Only its author sees the words behind it." in own_page
    assert not any(secret in own_page for secret in ("Sunday talk", "<mark>", "History", 'action="/facts/'))


def test_members_are_listed(visit, owner, member, legacy):
    assert "Kept by\n        you (owner), Mira Member." in text(visit(owner).get(fact_list(legacy)))
    assert "Kept by\n        Olga Owner (owner), you." in text(visit(member).get(fact_list(legacy)))


def test_who_wrote_a_fact(visit, owner, member, agent, legacy):
    theirs = LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    own, written = LegacyFactFactory.create_batch(2, legacy=legacy, user=owner)
    LegacyFact.objects.filter(pk=written.pk).update(written_by="notebook")
    client, tab = visit(owner), fact_list(legacy)
    page = words(client.get(tab))
    assert f"{own.content} You " in page
    assert f"{written.content} notebook " in page
    assert f"{theirs.content} Mira Member " in words(client.get(fact_list(legacy, "shared")))
    assert "In your own words" in words(opened(client, own, tab))
    assert "Written by notebook" in words(opened(client, written, tab))
    assert "In Mira Member's own words" in words(opened(client, theirs, tab))


def test_states_are_told_in_words(visit, owner, staff, legacy):
    waits, rejected, deleted, hidden = (LegacyFactFactory(legacy=legacy, user=owner) for _ in range(4))
    principal = principal_for_person(owner.pk)
    fact_waits(principal, waits.pk, proposed=True)
    actions.fact_reject(principal, rejected.pk)
    actions.fact_delete(principal, deleted.pk)
    actions.fact_hide(principal_for_staff(staff), hidden.pk, "Too private")
    client = visit(owner)
    page = words(client.get(fact_list(legacy)))
    assert "Not used until you approve" in page
    assert "Hidden by a moderator" in page
    assert "Reason: Too private." in words(opened(client, hidden, fact_list(legacy)))
    gone = words(client.get(fact_list(legacy, "gone")))
    assert ("Rejected You" in gone, "Put away You" in gone) == (True, True)
    assert "Reason: Not true." in words(opened(client, rejected, fact_list(legacy, "gone")))
    assert "Deleted for good on" in words(opened(client, deleted, fact_list(legacy, "gone")))
    LegacyFact.objects.filter(pk=waits.pk).update(state="quarantined", quarantined_at=timezone.now())
    assert "Held back" in text(client.get(fact_list(legacy)))


def test_contradictions_stand_beside_each_other(visit, owner, member, legacy, settings):
    settings.FACT_RELATED_SIMILARITY = 0.1
    shared = {"legacy": legacy, "visibility": "shared"}
    mine = LegacyFactFactory(user=owner, content="Rosa loved swimming in the sea.", **shared)
    other = LegacyFactFactory(user=member, content="Rosa hated swimming in the sea.", **shared)
    LegacyFactFactory(legacy=legacy, user=owner, content="Rosa liked swimming in the cold sea.")
    actions.facts_index()
    page = words(opened(visit(owner), mine, fact_list(legacy)))
    assert "Contradicts what Mira Member shares: Rosa hated swimming in the sea." in page
    theirs = words(opened(visit(member), other, fact_list(legacy)))
    assert "Contradicts what Olga Owner shares: Rosa loved swimming in the sea." in theirs
    assert "cold sea" not in theirs


def test_what_was_said_again_is_shown_too(visit, owner, legacy, told):
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    told(owner, legacy, "Grandmother Rosa was a midwife.", title="Monday talk")
    page = text(opened(visit(owner), fact, fact_list(legacy)))
    assert "Said again elsewhere" in page
    assert "You, in <a" in page
    assert "“Monday talk”" in page


def test_times_are_those_of_the_person(visit, owner, legacy, told):
    PreferencesFactory(user=owner, time_zone="Pacific/Kiritimati")
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    said_at = fact.evidence.get().message.at
    local = said_at.astimezone(ZoneInfo("Pacific/Kiritimati"))
    assert f"{local.day} {local:%B %Y, %H:%M}" in text(opened(visit(owner), fact, fact_list(legacy)))
    assert f"{local.day} {local:%b %Y}" in text(visit(owner).get(fact_list(legacy)))


def test_a_search_is_kept_in_the_address_and_can_be_left(visit, owner, legacy):
    LegacyFactFactory(legacy=legacy, user=owner, content="She kept bees.")
    LegacyFactFactory(legacy=legacy, user=owner, content="She was kind.", category="personality")
    client = visit(owner)
    page = text(client.get(fact_list(legacy, search="bees")))
    assert "1 found here." in page
    assert 'value="bees"' in page
    assert "She was kind." not in page
    assert 'href="?show=mine"' in page
    assert "Nothing found here." in text(client.get(fact_list(legacy, search="bees", category="personality")))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine", "You have no facts about"),
        ("waiting", "Nothing waits"),
        ("shared", "No other member"),
        ("gone", "Nothing was"),
    ],
)
def test_an_empty_shelf_says_why(visit, owner, legacy, name, words):
    answer = visit(owner).get(fact_list(legacy, name))
    assert words in text(answer)
    assert text(answer).split('id="tabs"')[1].split("</nav>")[0].count('aria-current="page"') == 1
    shown = text(answer).split('id="rail"')[1].split("</nav>")[0]
    assert ">All </a>" in shown  # Of nothing there is no number.
    assert rail(answer) == {}


def test_pages_of_twenty(visit, owner, legacy):
    for _ in range(21):
        LegacyFactFactory(legacy=legacy, user=owner)
    client = visit(owner)
    first, second = text(client.get(fact_list(legacy))), text(client.get(fact_list(legacy, page=2)))
    assert (first.count(ROW), second.count(ROW)) == (20, 1)
    assert 'href="?show=mine&amp;page=2"' in first
    assert 'href="?show=mine&amp;page=1"' in second
    assert text(client.get(fact_list(legacy, page="soon"))).count(ROW) == 20
    assert text(client.get(fact_list(legacy, page=99))).count(ROW) == 1


# --- Safety ---------------------------------------------------------------------------------------------------------

SCRIPT = "<script>alert('Rosa')</script>"


def test_stored_text_is_shown_as_text(visit, legacy, told, owner):
    (fact,) = told(owner, legacy, f"Grandmother Rosa was a midwife. {SCRIPT}", title=SCRIPT)
    owner.display_name = legacy.name = SCRIPT
    owner.save()
    legacy.save()
    principal = principal_for_person(owner.pk)
    actions.fact_edit(principal, fact.pk, content=f"She said {SCRIPT}")
    client = visit(owner)
    pages = [text(client.get(path)) for path in ("/", fact_list(legacy), fact_list(legacy, search=quote(SCRIPT)))]
    actions.fact_reject(principal, fact.pk)
    pages.append(text(client.get(fact_list(legacy, "gone"))))
    for page in pages:
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("path", ["/sign-in/", "/", "/legacies/{legacy}/"])
def test_pages_keep_to_our_own_scripts_and_out_of_caches(visit, owner, legacy, path):
    client = visit() if "sign-in" in path else visit(owner)
    answer = client.get(path.format(legacy=legacy.pk))
    assert {"default-src 'self'", "form-action 'self'"} <= set(answer["Content-Security-Policy"].split("; "))
    assert "no-store" in answer["Cache-Control"]
    for inline in ("<style", "style=", "onclick", "javascript:", "<script>"):
        assert inline not in text(answer)


def test_reading_changes_nothing(visit, owner, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner)
    before = (
        list(Ledger.objects.order_by("pk").values()),
        list(LegacyFact.objects.values("state", "visibility", "updated_at")),
    )
    client = visit(owner)
    for path in (
        "/",
        fact_list(legacy),
        f"/facts/{fact.pk}/delete/",
        f"/facts/{fact.pk}/share/",
        f"/facts/{fact.pk}/undo/archived/1/1/",
    ):
        client.get(path)
        client.head(path)
    assert client.get(f"/facts/{fact.pk}/delete/").status_code == 405
    after = (
        list(Ledger.objects.order_by("pk").values()),
        list(LegacyFact.objects.values("state", "visibility", "updated_at")),
    )
    assert after == before


def test_a_form_without_its_token_changes_nothing(visit, owner, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner)
    client = visit(owner, enforce_csrf_checks=True)
    answer = client.post(f"/facts/{fact.pk}/delete/", {"next": "/"})
    assert answer.status_code == 403
    assert "The form had expired" in text(answer)
    assert "Back to the form" not in text(answer)
    for sent_from, is_linked in (("http://testserver/facts/", True), ("https://elsewhere.example/facts/", False)):
        answer = client.post(f"/facts/{fact.pk}/delete/", {"next": "/"}, headers={"Referer": sent_from})
        assert (f'href="{sent_from}#expired"' in answer.content.decode()) is is_linked
    assert LegacyFact.objects.get(pk=fact.pk).state == "active"
    token = client.get(fact_list(legacy)).context["csrf_token"]
    assert client.post(f"/facts/{fact.pk}/delete/", {"csrfmiddlewaretoken": str(token)}).status_code == 302


@pytest.mark.parametrize(("path", "status"), [("/nothing/here/", 404), ("/legacies/7/", 404)])
def test_a_page_that_is_none_is_told_in_words(visit, owner, path, status):
    answer = visit(owner).get(path)
    assert answer.status_code == status
    assert "Not found" in text(answer)
    assert 'href="/"' in text(answer)


def test_an_error_is_told_without_its_trace(visit, owner, monkeypatch):
    def broken(principal):
        raise RuntimeError("secret")

    monkeypatch.setattr("desk.home.numbers_by_legacy", broken)
    client = visit(owner, raise_request_exception=False)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "Something went wrong" in text(answer)
    assert "secret" not in text(answer)
    assert "Traceback" not in text(answer)


# --- Cost -----------------------------------------------------------------------------------------------------------

HOME_QUERIES = 22
LEGACY_QUERIES = 8
OPENED_QUERIES = {"mine": 10, "shared": 9}


@pytest.mark.parametrize("much", [1, 5])
def test_home_costs_the_same_however_much_there_is(visit, owner, django_assert_num_queries, much):
    for _ in range(much):
        legacy = LegacyFactory(owner=owner)
        ConversationFactory(user=owner, legacy=legacy)
        LegacyFactFactory(user=owner, legacy=legacy)
    client = visit(owner)
    with django_assert_num_queries(HOME_QUERIES):
        page = text(client.get("/"))
    assert page.count("<h3>") == much


@pytest.mark.parametrize("name", ["mine", "shared"])
@pytest.mark.parametrize("much", [1, 5])
def test_a_legacy_costs_the_same_however_much_there_is(
    visit, owner, legacy, told, django_assert_num_queries, much, name
):
    for number in range(much):
        told(owner, legacy, f"Grandmother Rosa worked as a midwife for {number + 3} years.")
        friend = UserFactory()
        legacy.memberships.create(user=friend)
        LegacyFactFactory(legacy=legacy, user=friend, visibility="shared")
    facts = list(LegacyFact.objects.order_by("pk"))
    for one, other in pairwise(facts):
        one.links_from.get_or_create(to_fact=other, kind="contradicts", defaults={"strength": 0.9})
    client = visit(owner)
    with django_assert_num_queries(LEGACY_QUERIES):
        page = text(client.get(fact_list(legacy, name)))
    assert page.count(ROW) == much
    row = next(fact for fact in facts if (fact.user_id == owner.pk) == (name == "mine"))
    with django_assert_num_queries(OPENED_QUERIES[name]):
        part = text(opened(client, row, fact_list(legacy, name)))
    assert "Contradicts" in part


def test_somebody_to_remember_is_named_at_home(visit, owner):
    client = visit(owner)
    assert "Remember somebody" in words(client.get("/"))
    answer = client.post("/", {"name": "  Uncle Jo & Co  "})
    legacy = Legacy.objects.get(name="Uncle Jo & Co")
    assert answer.url == f"/legacies/{legacy.pk}/"
    assert legacy.memberships.get().user == owner
    assert "What is said about Uncle Jo &amp; Co is remembered" in text(client.get(answer.url))


@pytest.mark.parametrize(
    ("name", "why"),
    [("  ", "This field is required."), ("x" * 201, "at most 200 characters"), ("Jo\x00", "NUL character")],
)
def test_a_name_that_is_none_is_refused_plainly(visit, owner, name, why):
    answer = visit(owner).post("/", {"name": name})
    assert answer.status_code == 400
    assert why in words(answer)
    assert not Legacy.objects.exists()
