"""The lists of memories and facts as rows: how heavy they are, what they open to, what a search finds."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistant.recall.search import FoundMemories
from desk.memories import views
from facts.actions import facts_index
from language.base import EmbedderUnavailable
from language.embedders.hashing import HashingEmbedder
from memories import actions
from memories.models import Memory
from memories.records import NewMemory
from tests.factories import LegacyFactFactory, MemoryFactory, PreferencesFactory

from .conftest import opened, rail, text, words

KEY = "The spare key is under the pot."
OTHERS = ["The user plays the cello.", "The user hates fog.", "The user's sister lives in Malta.", "The user rows."]
MOST_BYTES = 60_000


def near(answer):
    """What a search shows that is close in meaning."""
    return words(answer).partition("Close in meaning")[2]


@pytest.mark.parametrize("path", ["/memories/", "/facts/"])
def test_a_first_view_of_twenty_rows_is_light(visit, owner, legacy, path):
    for number in range(20):
        content = f"The user keeps {number} hens behind the old mill, and sells their eggs on the market on Saturdays."
        MemoryFactory(user=owner, content=content)
        LegacyFactFactory(user=owner, legacy=legacy, content=content)
    page = visit(owner).get(path)
    assert text(page).count('class="fact line') == 20
    assert len(page.content) <= MOST_BYTES


def test_a_row_leads_to_the_page_of_the_one_without_htmx(visit, owner, legacy):
    client = visit(owner)
    for address in (
        f"/memories/{MemoryFactory(user=owner).pk}/",
        f"/facts/{LegacyFactFactory(user=owner, legacy=legacy).pk}/",
    ):
        assert client.get(f"{address}opened/").url == address


@pytest.mark.parametrize(("review", "told"), [("after", "To review"), ("before", "Not used until you approve")])
def test_what_a_row_says_at_first_sight_stands_there_once(visit, owner, review, told):
    PreferencesFactory(user=owner, review=review)
    memory = MemoryFactory(user=owner, subject="Hens")
    Memory.objects.update(reviewed_at=None)
    client = visit(owner)
    assert told in words(client.get("/memories/"))
    part = words(opened(client, memory, "/memories/"))
    assert "Hens" in part
    assert told not in part
    assert told in words(client.get(f"/memories/{memory.pk}/"))


def test_what_opens_sends_its_decisions_from_the_list_as_it_is_now(visit, owner, legacy):
    client, back = visit(owner), "/memories/?state=active&search=hens"
    part = text(opened(client, MemoryFactory(user=owner, content="Nina keeps hens."), back))
    assert 'name="next" value="/memories/?state=active&amp;search=hens"' in part
    assert "<html" not in part
    fact = LegacyFactFactory(user=owner, legacy=legacy)
    there = [legacy.name in words(opened(client, fact, back)) for back in ("/facts/", f"/legacies/{legacy.pk}/")]
    assert there == [True, False]


def test_the_rail_counts_and_narrows_what_a_search_leaves(visit, owner, legacy):
    for number, category in enumerate(("context", "context", "tasks")):
        MemoryFactory(user=owner, content=f"Nina keeps {number + 2} hens.", category=category)
    MemoryFactory(user=owner, content="Nina plays the cello.", category="interests")
    client = visit(owner)
    page = client.get("/memories/?search=hens")
    assert rail(page) == {"All": 3, "Context": 2, "Tasks": 1}
    assert 'href="/memories/?state=active&amp;search=hens&amp;category=tasks"' in text(page)
    page = client.get("/memories/?search=hens&category=tasks")
    assert rail(page) == {"All": 3, "Context": 2, "Tasks": 1}
    assert text(page).split('id="near"')[0].count('class="fact line') == 1
    assert '<input type="hidden" name="category" value="tasks">' in text(page)
    LegacyFactFactory(user=owner, legacy=legacy, content="Rosa kept hens.", category="hobby")
    LegacyFactFactory(user=owner, legacy=legacy, content="Rosa liked hens.", category="preference")
    assert rail(client.get("/facts/?search=hens&category=hobby")) == {"All": 2, "Hobby": 1, "Preference": 1}


@pytest.mark.parametrize("path", ["/memories/", "/facts/"])
def test_the_address_follows_the_search(visit, owner, path):
    client = visit(owner)
    assert "HX-Replace-Url" not in client.get(path, {"search": "hens"})
    followed = client.get(path, {"search": "hens & bees"}, headers={"HX-Request": "true"})["HX-Replace-Url"]
    assert followed.startswith(f"{path}?")
    assert "search=hens+%26+bees" in followed


@pytest.mark.slow
def test_a_search_finds_what_is_close_in_meaning(visit, owner, legacy, me, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    for content in (KEY, *OTHERS):
        actions.memory_add(me, NewMemory(content, "context"))
        LegacyFactFactory(user=owner, legacy=legacy, content=content)
    facts_index()
    client = visit(owner)
    for path in ("/memories/", "/facts/", f"/legacies/{legacy.pk}/"):
        page = client.get(path, {"search": "where is the spare key"})
        assert "None has these words." in words(page)
        assert '<span class="count">0</span>' not in page.content.decode().split('id="rail"')[1].split("</nav>")[0]
        assert KEY in near(page)
        assert "Malta" not in near(page)
        page = client.get(path, {"search": "spare key"})
        assert "1 found here." in words(page)
        assert KEY not in near(page)
    assert near(client.get("/memories/", {"search": "where is the spare key", "category": "tasks"})) == ""


def test_what_is_close_in_meaning_is_not_looked_for_where_the_words_fill_more_than_a_page(visit, owner, monkeypatch):
    asked = []
    monkeypatch.setattr(views, "find_memories", lambda *_, **asks: asked.append(asks) or FoundMemories([], []))
    for number in range(20):
        MemoryFactory(user=owner, content=f"Nina keeps {number} hens.")
    client = visit(owner)
    assert "20 found here." in words(client.get("/memories/", {"search": "hens"}))
    assert len(asked) == 1
    MemoryFactory(user=owner, content="Nina keeps 20 hens.")
    assert "21 found here." in words(client.get("/memories/", {"search": "hens"}))
    assert "21 found here." in words(client.get("/memories/", {"search": "hens", "page": "2"}))
    assert len(asked) == 1


def test_what_holds_the_words_or_is_filtered_out_is_not_close_in_meaning_too(visit, owner, monkeypatch):
    hens, bees, cats = (
        MemoryFactory(user=owner, content=f"Nina keeps {kept}.", category=filed)
        for kept, filed in (("hens", "context"), ("bees", "context"), ("cats", "tasks"))
    )
    monkeypatch.setattr(views, "close_in_meaning", lambda _hits: [cats.pk, hens.pk, bees.pk])
    page = visit(owner).get("/memories/", {"search": "hens", "category": "context"})
    assert "Nina keeps bees." in near(page)
    assert "hens" not in near(page).partition("Nina keeps")[2]
    assert "cats" not in near(page)


def test_while_the_embedder_is_away_a_search_goes_by_words_alone(visit, owner, monkeypatch):
    MemoryFactory(user=owner, content="Nina keeps hens.")
    MemoryFactory(user=owner, content="Nina keeps bees.")

    def away(self, text):
        raise EmbedderUnavailable("down")

    monkeypatch.setattr(HashingEmbedder, "embed_query", away)
    page = visit(owner).get("/memories/?search=hens")
    assert "Nina keeps hens." in words(page)
    assert "Nina keeps bees." not in words(page)


@pytest.mark.parametrize("path", ["/memories/", "/facts/"])
def test_a_search_costs_the_same_however_much_it_finds(visit, owner, legacy, path):
    client, counts = visit(owner), []
    for much in (3, 9):
        for number in range(much):
            MemoryFactory(user=owner, content=f"Nina keeps {much * 100 + number} hens.")
            LegacyFactFactory(user=owner, legacy=legacy, content=f"Rosa kept {much * 100 + number} hens.")
        facts_index()
        client.get(path, {"search": "hens"})
        with CaptureQueriesContext(connection) as queries:
            client.get(path, {"search": "keeps hens" if path == "/memories/" else "kept hens"})
        counts.append(len(queries))
    assert counts[0] == counts[1]
