"""Facts and suppressions for staff: nothing shows what people said until it is opened, which they can read."""

import logging

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.admin import FactAdmin
from facts.models import FactEvidence, FactLink, FactVersion, LegacyFact
from journal.exceptions import NotAllowed, NotFound, Refused
from journal.models import Change
from tests.factories import UserFactory, rev_of

from .conftest import now, url

FACTS = "/admin/facts/legacyfact/"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def moderator(db):
    """Staff without superuser rights."""
    return UserFactory(username="moderator", is_staff=True)


@pytest.fixture
def desk(moderator, client):
    """The moderator, signed in."""
    client.force_login(moderator)
    return client


def press(client, what, fact, **data):
    """Send a button's dialog; returns the answer."""
    return client.post(f"{FACTS}{getattr(fact, 'pk', fact)}/{what}/", {"_form_submitted": "True", **data})


def told(client):
    """What the next page says about the last button."""
    return [str(message) for message in client.get(FACTS).context["messages"]]


@pytest.mark.parametrize("search", ["", "owner", "Olga", "{fact}", "{legacy}", "Rosa"])
def test_the_list_finds_facts_and_shows_no_text(desk, add, owner, member, legacy, search):
    fact, other = add(owner, legacy), add(member, legacy, "Rosa kept bees.")
    page = desk.get(FACTS, {"q": search.format(fact=fact.pk, legacy=legacy.pk)}).content.decode()
    assert str(fact.pk) in page
    assert (str(other.pk) in page) == (search in {"", "{legacy}", "Rosa"})
    assert "baked" not in page
    assert "bees" not in page


@pytest.mark.parametrize("search", ["baked", "nobody", NOBODY, "7"])
def test_the_list_is_not_searched_for_what_people_said(desk, add, owner, legacy, search):
    fact = add(owner, legacy)
    answer = desk.get(FACTS, {"q": search})
    assert answer.status_code == 200
    assert str(fact.pk) not in answer.content.decode()


def test_no_page_of_a_fact_shows_its_text_shared_or_not(desk, extract, shared, owner, legacy):
    private, public = extract(owner, legacy, "Rosa smoked in secret.")[0], shared(owner, legacy)
    actions.fact_edit(principal_for_person(owner.pk), private.pk, content="Rosa smoked cigars.")
    version, evidence = FactVersion.objects.filter(fact=private)[0], FactEvidence.objects.get(fact=private)
    for path in (
        f"{FACTS}{private.pk}/change/",
        f"{FACTS}{public.pk}/change/",
        f"{FACTS}{private.pk}/history/",
        "/admin/facts/factversion/",
        f"/admin/facts/factversion/{version.pk}/change/",
        "/admin/facts/factevidence/",
        f"/admin/facts/factevidence/{evidence.pk}/change/",
    ):
        answer = desk.get(path)
        assert answer.status_code == 200
        page = answer.content.decode()
        assert "smoked" not in page
        assert "baked" not in page


def test_nothing_is_edited(desk, add, owner, legacy):
    fact = add(owner, legacy)
    assert desk.post(f"{FACTS}{fact.pk}/change/", {"content": "x"}).status_code == 403
    assert desk.get(f"{FACTS}add/").status_code == 403
    assert desk.post(f"{FACTS}{fact.pk}/delete/").status_code == 403


class TestOpening:
    """The text, once, for a reason that its author reads."""

    def test_the_text_is_shown_and_the_author_reads_why(self, api, desk, moderator, extract, owner, legacy, caplog):
        fact = extract(owner, legacy, "Rosa smoked in secret.")[0]
        before = LegacyFact.objects.values().get(pk=fact.pk)
        with caplog.at_level(logging.DEBUG):
            answer = press(desk, "open", fact, reason=" A complaint came in. ")
        page = answer.content.decode()
        assert answer.status_code == 200
        assert page.count("Rosa smoked in secret.") == 2  # The fact, and the words that bear it out.
        assert "no-store" in answer["Cache-Control"]
        assert "smoked" not in caplog.text
        change = Change.objects.get(event="OPEN")
        assert (change.ledger_id, change.object_type, change.object_id) == (owner.pk, "fact", str(fact.pk))
        assert (change.actor_kind, change.actor_id) == ("staff", str(moderator.pk))
        assert change.meta == {"reason": "A complaint came in."}
        assert LegacyFact.objects.values().get(pk=fact.pk) == before

        history = api(owner).get(url(fact, "history/")).json()["results"]
        assert [(each["event"], each["actor"]) for each in history] == [("OPEN", "staff"), ("ADD", "job")]
        assert history[0]["meta"] == {"reason": "A complaint came in."}
        page = desk.get(f"{FACTS}{fact.pk}/change/").content.decode()
        assert "A complaint came in." in page
        assert "smoked" not in page

    @pytest.mark.parametrize("reason", ["", "   ", "x" * 201])
    def test_without_a_reason_nothing_is_shown_or_logged(self, desk, add, owner, legacy, reason):
        fact, rev = add(owner, legacy), rev_of(owner)
        answer = press(desk, "open", fact, reason=reason)
        assert "baked" not in answer.content.decode()
        assert 'id="dialog-form"' in answer.content.decode()
        assert rev_of(owner) == rev

    def test_the_dialog_itself_shows_and_logs_nothing(self, desk, shared, owner, legacy):
        fact, rev = shared(owner, legacy), rev_of(owner)
        page = desk.get(f"{FACTS}{fact.pk}/open/").content.decode()
        assert "Reason" in page
        assert "baked" not in page
        assert rev_of(owner) == rev

    def test_what_is_opened_is_text_and_no_markup(self, desk, add, owner, legacy):
        fact = add(owner, legacy, "Rosa said <script>alert(1)</script> often.")
        page = press(desk, "open", fact, reason="look").content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page

    def test_a_facts_page_tells_its_authors_story_once(self, desk, shared, owner, legacy):
        fact = shared(owner, legacy)
        press(desk, "hide", fact, reason="rude")
        changes = desk.get(f"{FACTS}{fact.pk}/change/").context["story"]
        assert [change.event for change in changes] == ["HIDE", "ADD"]

    def test_what_can_be_decided_is_offered_with_it(self, desk, shared, add, owner, legacy):
        fact = shared(owner, legacy)
        assert f"{FACTS}{fact.pk}/hide/" in press(desk, "open", fact, reason="look").content.decode()
        press(desk, "hide", fact, reason="rude")
        page = press(desk, "open", fact, reason="look again").content.decode()
        assert f"{FACTS}{fact.pk}/unhide/" in page
        assert f"{FACTS}{fact.pk}/hide/" not in page

    @pytest.mark.parametrize("fact", [NOBODY, "no-id", "1"])
    def test_a_fact_that_is_not_there_is_not_found(self, desk, fact):
        assert press(desk, "open", fact, reason="look").status_code == 404

    def test_a_fact_that_goes_meanwhile_is_told(self, desk, add, owner, legacy, monkeypatch):
        fact = add(owner, legacy)

        def gone(*args):
            raise NotFound("There is no such fact.")

        monkeypatch.setitem(FactAdmin.moderation, "open", gone)
        press(desk, "open", fact, reason="look")
        assert told(desk) == ["There is no such fact."]

    def test_only_staff_open_whatever_calls_the_action(self, add, staff, owner, member, legacy):
        fact, rev = add(owner, legacy), rev_of(owner)
        for person in (owner, member):
            with pytest.raises(NotAllowed):
                actions.fact_open(principal_for_person(person.pk), fact.pk, "mine")
        with pytest.raises(Refused):
            actions.fact_open(principal_for_staff(staff), fact.pk, "  ")
        with pytest.raises(Refused):
            actions.fact_open(principal_for_staff(staff), fact.pk, "a\x00b")
        with pytest.raises(NotFound):
            actions.fact_open(principal_for_staff(staff), NOBODY, "look")
        assert rev_of(owner) == rev


class TestHiding:
    """Decisions by dialog."""

    def test_hiding_takes_a_reason_and_tells_the_author(self, api, desk, shared, owner, legacy):
        fact = shared(owner, legacy)
        press(desk, "hide", fact, reason=" ")
        assert now(fact).state == "active"
        press(desk, "hide", fact, reason="Names a living person.")
        assert told(desk) == ["The fact is hidden."]
        assert (now(fact).state, now(fact).state_reason) == ("hidden", "Names a living person.")
        press(desk, "unhide", fact, reason="")
        assert now(fact).state == "hidden"
        press(desk, "unhide", fact, reason="They agreed.")
        assert told(desk) == ["The fact is given back."]
        assert (now(fact).state, now(fact).visibility) == ("active", "private")
        history = api(owner).get(url(fact, "history/")).json()["results"]
        assert [(each["event"], each["meta"].get("reason")) for each in history[:2]] == [
            ("RESTORE", "They agreed."),
            ("HIDE", "Names a living person."),
        ]

    def test_opening_an_address_decides_nothing(self, desk, shared, owner, legacy):
        fact = shared(owner, legacy)
        desk.get(f"{FACTS}{fact.pk}/hide/?reason=rude&_form_submitted=True")
        assert now(fact).state == "active"

    def test_a_form_without_the_pages_token_decides_nothing(self, moderator, shared, owner, legacy):
        from django.test import Client

        fact, client = shared(owner, legacy), Client(enforce_csrf_checks=True)
        client.force_login(moderator)
        assert press(client, "hide", fact, reason="rude").status_code == 403
        assert now(fact).state == "active"

    @pytest.mark.parametrize(
        ("what", "says"), [("hide", "This fact is archived."), ("unhide", "This fact is archived.")]
    )
    def test_a_decision_that_came_too_late_is_told(self, desk, add, owner, legacy, what, says):
        fact = add(owner, legacy, "Rosa kept bees.")
        actions.fact_delete(principal_for_person(owner.pk), fact.pk)
        assert press(desk, what, fact, reason="rude").status_code == 200
        assert told(desk) == [says]
        assert now(fact).state == "archived"

    def test_the_buttons_are_those_that_can_do_something(self, desk, shared, owner, legacy):
        fact = shared(owner, legacy)

        def offered(path):
            page = desk.get(path).content.decode()
            return {
                what
                for what in ("open", "hide", "unhide", "quarantine", "release")
                if f"{FACTS}{fact.pk}/{what}/" in page
            }

        assert offered(f"{FACTS}{fact.pk}/change/") == {"open", "hide", "quarantine"}
        assert offered(FACTS) == {"open"}
        assert offered(f"{FACTS}?state__exact=active") == {"open", "hide", "quarantine"}
        press(desk, "hide", fact, reason="rude")
        assert offered(f"{FACTS}{fact.pk}/change/") == {"open", "unhide"}
        assert offered(f"{FACTS}?state__exact=hidden") == {"open", "unhide"}

    def test_the_queue_says_why_and_shows_the_longest_first(self, desk, shared, owner, legacy):
        first, second = shared(owner, legacy), shared(owner, legacy, "Rosa kept bees.")
        press(desk, "hide", second, reason="One of two.")
        press(desk, "hide", first, reason="Two of two.")
        page = desk.get(f"{FACTS}?state__exact=hidden").content.decode()
        assert page.index("One of two.") < page.index("Two of two.")


class TestQuarantine:
    """The queue of what is held back."""

    def test_a_fact_is_held_back_and_released(self, api, desk, shared, owner, legacy):
        fact = shared(owner, legacy)
        press(desk, "quarantine", fact, reason=" ")
        assert now(fact).state == "active"
        press(desk, "quarantine", fact, reason="Reads like an order.")
        assert told(desk) == ["The fact is in quarantine."]
        page = desk.get(f"{FACTS}?state__exact=quarantined").content.decode()
        assert "Reads like an order." in page
        assert "baked" not in page
        press(desk, "release", fact, reason="It is a recipe.")
        assert told(desk) == ["The fact is released."]
        assert (now(fact).state, now(fact).visibility, now(fact).reviewed_at) == ("active", "private", None)
        history = api(owner).get(url(fact, "history/")).json()["results"]
        assert [(each["event"], each["meta"].get("reason")) for each in history[:2]] == [
            ("RESTORE", "It is a recipe."),
            ("QUARANTINE", "Reads like an order."),
        ]

    def test_a_fact_is_opened_and_refused_in_one_dialog(self, desk, shared, owner, legacy):
        fact = shared(owner, legacy)
        press(desk, "quarantine", fact, reason="Reads like an order.")
        page = press(desk, "open", fact, reason="Judging it").content.decode()
        assert "baked" in page
        assert {what for what in ("release", "refuse", "hide") if f"{FACTS}{fact.pk}/{what}/" in page} == {
            "release",
            "refuse",
        }
        press(desk, "refuse", fact, reason="It is an order.")
        assert told(desk)[-1] == "The fact is refused."
        assert now(fact).state == "rejected"

    @pytest.mark.parametrize("what", ["release", "refuse"])
    def test_what_was_decided_meanwhile_is_told(self, desk, shared, owner, legacy, what):
        fact = shared(owner, legacy)
        assert press(desk, what, fact, reason="late").status_code == 200
        assert told(desk) == ["This fact is active."]
        assert now(fact).state == "active"


def test_links_and_suppressions_are_listed_without_text(desk, add, model, owner, legacy):
    add(owner, legacy)
    fact = add(owner, legacy, "Every Sunday Rosa baked bread.")
    actions.facts_index()
    link = FactLink.objects.get()
    for path in ("/admin/facts/factlink/", f"/admin/facts/factlink/{link.pk}/change/"):
        page = desk.get(path).content.decode()
        assert str(fact.pk) in page
        assert "baked" not in page
    actions.fact_reject(principal_for_person(owner.pk), fact.pk)
    for search in (str(fact.pk), "owner", "Rosa"):
        page = desk.get("/admin/statements/suppression/", {"q": search}).content.decode()
        assert str(fact.pk) in page
        assert "baked" not in page


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        (FACTS, 5),
        (f"{FACTS}?state__exact=active", 5),
        (f"{FACTS}?q=owner", 7),
        ("/admin/facts/factversion/", 5),
        ("/admin/facts/factevidence/", 5),
        ("/admin/facts/factlink/", 5),
        ("/admin/statements/suppression/", 5),
    ],
)
def test_lists_take_the_same_queries_however_long(desk, extract, owner, legacy, path, queries):
    extract(owner, legacy, *(f"Rosa owned {number} spoons." for number in range(4)))
    for fact in LegacyFact.objects.all()[:2]:
        actions.fact_reject(principal_for_person(owner.pk), fact.pk)
    with CaptureQueriesContext(connection) as asked:
        desk.get(path)
    assert len(asked) == queries, "\n".join(each["sql"][:200] for each in asked)


def test_a_facts_page_takes_eight_queries(desk, add, owner, legacy, django_assert_num_queries):
    fact = add(owner, legacy)
    with django_assert_num_queries(8):
        desk.get(f"{FACTS}{fact.pk}/change/")
