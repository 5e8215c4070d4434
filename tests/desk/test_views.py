"""What the address of a list says, and which facts it means."""

from uuid import uuid4

import pytest

from accounts.queries import principal_for_person
from desk.legacies.listing import SORTS, FactView
from facts.models import LegacyFact
from tests.factories import LegacyFactFactory, LegacyFactory, fact_waits

LEGACY = str(uuid4())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, FactView()),
        ({"show": "waiting"}, FactView("waiting")),
        ({"show": "everything", "category": "gossip", "page": "2"}, FactView(page="2")),
        ({"show": "gone", "search": " bees ", "category": "hobby"}, FactView("gone", "bees", category="hobby")),
        ({"search": "x" * 500}, FactView(search="x" * 200)),
        ({"legacy": LEGACY.upper()}, FactView(legacy=LEGACY)),
        ({"legacy": "7", "sort": "loudest", "per_page": "1000", "state": "asleep"}, FactView()),
        (
            {"per_page": "50", "sort": "wording", "written_by": "me"},
            FactView(per_page=50, sort="wording", written_by="me"),
        ),
        ({"visibility": "shared", "state": "hidden"}, FactView(visibility="shared", state="hidden")),
        ({"show": "gone", "visibility": "shared", "state": "hidden"}, FactView("gone")),
        ({"show": "gone", "state": "rejected"}, FactView("gone", state="rejected")),
    ],
)
def test_an_address_is_read(query, expected):
    assert FactView.of(query) == expected


def test_a_view_is_written_as_an_address():
    view = FactView(
        "mine", "bees & honey", category="hobby", visibility="shared", state="hidden", per_page=50, page="3"
    )
    assert view.query == (
        "?show=mine&search=bees+%26+honey&category=hobby&visibility=shared&state=hidden&per_page=50&page=3"
    )
    assert view.at(4).query.endswith("page=4")
    gone = view.on("gone")
    assert (gone.search, gone.visibility, gone.state, gone.page) == ("bees & honey", "", "", "")
    assert view.unfiltered.query == "?show=mine&per_page=50"
    assert (view.is_filtered, FactView(sort="oldest").is_filtered) == (True, False)


def test_what_a_view_reads_it_writes():
    query = {"show": "gone", "search": "bees", "legacy": LEGACY, "state": "archived", "sort": "oldest", "page": "2"}
    view = FactView.of(query)
    assert FactView.of(dict(pair.split("=") for pair in view.query[1:].split("&"))) == view


@pytest.fixture
def facts(owner, legacy):
    """Facts of several kinds, by what tells them apart."""
    principal = principal_for_person(owner.pk)
    other = LegacyFactory(owner=owner)
    made = {
        "bees": LegacyFactFactory(legacy=legacy, user=owner, content="She kept two bees."),
        "kind": LegacyFactFactory(legacy=legacy, user=owner, content="She was kind.", category="personality"),
        "other": LegacyFactFactory(legacy=other, user=owner, content="A bee stung him."),
        "shared": LegacyFactFactory(legacy=legacy, user=owner, content="She sang.", visibility="shared"),
        "found": LegacyFactFactory(legacy=legacy, user=owner, content="Zoos made her sad."),
        "proposed": LegacyFactFactory(legacy=legacy, user=owner, content="She may have flown."),
    }
    LegacyFact.objects.filter(pk=made["found"].pk).update(written_by="rules")
    fact_waits(principal, made["proposed"].pk, proposed=True)
    return made


@pytest.mark.parametrize(
    ("view", "names"),
    [
        (FactView(search="bee"), {"bees", "other"}),
        (FactView(search="bees", category="personality"), set()),
        (FactView(category="personality"), {"kind"}),
        (FactView(visibility="shared"), {"shared"}),
        (FactView(state="proposed"), {"proposed"}),
        (FactView("waiting"), {"proposed"}),
        (FactView(written_by="rules"), {"found"}),
        (FactView(written_by="me", category="hobby"), {"bees", "other", "shared", "proposed"}),
        (FactView(written_by="nobody"), set()),
        (FactView("shared"), set()),
    ],
)
def test_a_view_selects(owner, facts, view, names):
    principal = principal_for_person(owner.pk)
    found = set(view.select(LegacyFact.objects.visible_to(principal), principal))
    assert found == {facts[name] for name in names}


def test_a_view_selects_a_legacy(owner, legacy, facts):
    principal = principal_for_person(owner.pk)
    rows = LegacyFact.objects.visible_to(principal)
    assert FactView(legacy=LEGACY).select(rows, principal).count() == 0
    assert FactView(legacy=str(legacy.pk)).select(rows, principal).count() == 5


def test_every_order_is_one(owner, facts):
    principal = principal_for_person(owner.pk)
    rows = LegacyFact.objects.visible_to(principal)

    def first_and_last(**view):
        ordered = list(FactView(**view).select(rows, principal))
        assert len(ordered) == 6
        return ordered[0], ordered[-1]

    ends = {sort: first_and_last(sort=sort) for sort in SORTS}
    assert ends["newest"] == (facts["proposed"], facts["bees"])
    assert ends["oldest"] == (facts["bees"], facts["proposed"])
    assert ends["changed"] == (facts["proposed"], facts["bees"])
    assert ends["category"][1] == facts["kind"]
    assert ends["wording"] == (facts["other"], facts["found"])
    assert (FactView("waiting").order, FactView().order, FactView("waiting", sort="newest").order) == (
        "oldest",
        "newest",
        "newest",
    )
