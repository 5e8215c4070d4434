"""What the address of the list of memories says."""

import pytest
from django.http import QueryDict

from desk.memories.listing import MemoryView

AGENT = "0d8f2c1a-6a57-4f0c-9a43-5b1f3a0c7e21"
IMPORT = "7b1c3f5e-2a44-4d0b-8f57-9e6a1c2d3b40"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", MemoryView()),
        ("state=archived&page=2", MemoryView("archived", page="2")),
        ("state=asleep&kind=loud&sort=loudest&per_page=1000&pinned=perhaps", MemoryView()),
        ("category=tasks&category=task", MemoryView(category="tasks")),
        ("search=+bees+", MemoryView(search="bees")),
        (f"agent={AGENT.upper()}&reviewed=no&pinned=yes", MemoryView(agent=AGENT, reviewed="no", pinned="yes")),
        ("topic=sea&subject=Rowing&sort=wording&per_page=50", MemoryView(
            topic="sea", subject="Rowing", sort="wording", per_page=50
        )),
    ],
)  # fmt: skip
def test_an_address_is_read(query, expected):
    assert MemoryView.of(QueryDict(query)) == expected


def test_what_a_view_reads_it_writes():
    view = MemoryView(
        "rejected", "bees & honey", "tasks", "episodic", "sea", "Tom & I", AGENT, IMPORT, "yes", "no", page="3"
    )
    assert MemoryView.of(QueryDict(view.query[1:])) == view
    assert view.narrowing == 7  # The category has a place of its own: the rail.
    assert view.at(4).query.endswith("&page=4")
    other = view.within("active")
    assert (other.state, other.search, other.page) == ("active", "bees & honey", "")
    assert view.unfiltered.query == "?state=rejected"
    assert (view.is_filtered, MemoryView("archived", sort="newest").is_filtered) == (True, False)
