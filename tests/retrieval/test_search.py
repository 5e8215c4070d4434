from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from django.db import transaction
from django.db.models import Case, FloatField, Value, When
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Member
from conversations.models import Message
from facts.models import LegacyFact
from retrieval import search as searching
from retrieval.reranking import TurnColumns as Place
from retrieval.search import Corpus, SearchQuery, centre_of, hybrid_search, nearest
from retrieval.weights import SearchWeights
from tests import factories
from tests.retrieval.rows import (
    MODEL,
    UNSTEMMED,
    Said,
    corpus,
    fused_scores,
    keyword_scores,
    principal,
    say,
    similarities,
    unit,
)

pytestmark = pytest.mark.django_db

VECTOR = (1, 0, 0, 0)
BEFORE = "before:4"
WORDS = ["oak", "honey", "garden", "piano", "sea"]
"""Words that English stems to themselves."""


def ask(text="", vector=VECTOR, *, top_k=10, model=MODEL, **other):
    return SearchQuery(
        text, None if vector is None else unit(*vector), model, top_k, **{"language": UNSTEMMED, **other}
    )


def own_rows(user, legacy=None):
    return Message.objects.visible_to(principal(user)).recallable(legacy and legacy.pk)


def search(user, query, rows, legacy=None, weights=None):
    return hybrid_search(own_rows(user, legacy), query, corpus(rows), weights)


# --- Filters: whatever is stored, a search finds what a look at every row finds -----------------------------------

DRAWN_ROW = st.fixed_dictionaries(
    {
        "content": st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        "vector": st.none() | st.tuples(*[st.integers(-3, 3)] * 3, st.integers(1, 3)),
        "model": st.sampled_from([MODEL, BEFORE]),
        "language": st.sampled_from([UNSTEMMED, "en"]),
        "private": st.booleans(),
        "mine": st.booleans(),
        "legacy": st.sampled_from([None, 0, 1]),
    }
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(DRAWN_ROW, max_size=12),
    text=st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=4).map(" ".join),
    vector=st.none() | st.tuples(*[st.integers(-3, 3)] * 3, st.integers(1, 3)),
    wanted=st.sampled_from([None, 0, 1]),
    top_k=st.integers(1, 15),
    weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    few=st.sampled_from([0, 2, 40]),
    moving=st.booleans(),
)
def test_only_the_owners_rows_of_that_legacy_are_found_and_scored(
    owner, stranger, drawn, text, vector, wanted, top_k, weight, few, moving
):
    weights = SearchWeights(vector=weight)
    with transaction.atomic(), mock.patch.object(searching, "FEW_WORDS", few):
        legacies = [factories.LegacyFactory(owner=owner, members=[stranger]) for _ in range(2)]
        rows = []
        for values in drawn:
            legacy = None if values["legacy"] is None else legacies[values["legacy"]]
            said = {key: values[key] for key in ("content", "vector", "model", "language", "private")}
            rows.append(Said(**said, legacy=legacy, user=owner if values["mine"] else stranger))
        say(owner, rows)
        legacy = None if wanted is None else legacies[wanted]
        seen = [row for row in rows if row.user == owner and not row.private and row.legacy == legacy]
        whole = corpus(rows)
        query = ask(text, vector, top_k=top_k)
        if moving and vector:
            query = replace(query, vector_before=unit(*vector), embedding_model_before=BEFORE)
        hits = hybrid_search(own_rows(owner, legacy), query, whole, weights)
        near = nearest(own_rows(owner, legacy), unit(*(vector or VECTOR)), MODEL, top_k, -1.0)
        keyword = keyword_scores(seen, text, whole)
        transaction.set_rollback(True)

    similar = similarities(seen, vector) if vector else {}
    before = similarities(seen, vector, BEFORE) if vector and moving else {}
    expected = fused_scores(seen, similar, keyword, weights, before)
    similar |= before
    assert {hit.id for hit in hits} <= expected.keys()
    assert len(hits) == min(top_k, len(expected))
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.id], abs=2e-3)
        assert hit.similarity == (pytest.approx(similar[hit.id], abs=1e-4) if hit.id in similar else None)
        # Each word's part is rounded to millionths.
        assert hit.keyword == (pytest.approx(keyword[hit.id], abs=1e-5) if hit.id in keyword else None)
    best = sorted(expected.values(), reverse=True)
    assert [hit.score for hit in hits] == pytest.approx(best[: len(hits)], abs=2e-3)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
    if similar:
        level, spread = np.mean(list(similar.values())), np.std(list(similar.values()))
        assert [hit.level for hit in hits] == pytest.approx([level] * len(hits), abs=1e-4)
        assert [hit.unit for hit in hits] == pytest.approx([spread / (weight or 1)] * len(hits), abs=1e-3)

    reach = similarities(seen, vector or VECTOR)
    assert [hit.score for hit in near] == pytest.approx(sorted(reach.values(), reverse=True)[:top_k], abs=1e-4)
    assert near == sorted(near, key=lambda hit: (-hit.score, hit.id))


# --- Who sees what ---------------------------------------------------------------------------------------------


def test_rows_of_another_person_legacy_or_private_talk_never_come_back(owner, stranger, legacy):
    other_legacy = factories.LegacyFactory(owner=owner)
    mine = Said("bees in the garden", VECTOR, legacy=legacy)
    rows = [
        mine,
        replace(mine, id=Said("").id, user=stranger),
        replace(mine, id=Said("").id, legacy=other_legacy),
        replace(mine, id=Said("").id, legacy=None),
        replace(mine, id=Said("").id, private=True),
        replace(mine, id=Said("").id, private=True, user=stranger),
    ]
    say(owner, rows)
    assert [hit.id for hit in search(owner, ask("bees garden"), rows, legacy)] == [mine.id]
    assert [hit.id for hit in nearest(own_rows(owner, legacy), unit(*VECTOR), MODEL, 10, -1)] == [mine.id]
    assert search(stranger, ask("bees garden"), rows, other_legacy) == []


def test_an_agent_that_may_not_read_turns_finds_none_of_other_agents(owner, legacy):
    say(owner, [Said("bees", VECTOR)])
    agent = factories.AgentFactory(owner=owner)
    limited = replace(principal(owner), kind="agent", agent_id=agent.pk, sources=frozenset())
    rows = Message.objects.visible_to(limited).recallable(None)
    assert hybrid_search(rows, ask("bees"), Corpus(1, 1)) == []


def test_facts_are_found_by_the_visibility_rule_of_facts(owner, member, stranger, legacy):
    facts = {
        name: factories.LegacyFactFactory(legacy=legacy, user=user, content=f"Rosa kept {name} bees.", **values)
        for name, user, values in [
            ("own", member, {}),
            ("shared", owner, {"visibility": "shared"}),
            ("hidden", owner, {}),
        ]
    }

    def found(user):
        rows = LegacyFact.objects.visible_to(principal(user)).filter(legacy=legacy, state="active")
        return {hit.id for hit in hybrid_search(rows, ask("bees", None), Corpus(3, 12))}

    assert found(member) == {facts["own"].pk, facts["shared"].pk}
    assert found(owner) == {facts["shared"].pk, facts["hidden"].pk}
    assert found(stranger) == set()
    Member.objects.filter(legacy=legacy, user=member).delete()
    assert facts["shared"].pk not in found(member)


def test_whom_the_principal_does_not_name_nothing_is_found(owner):
    say(owner, [Said("bees", VECTOR)])
    nobody = replace(principal(owner), user_id=None)
    rows = Message.objects.visible_to(nobody)
    assert hybrid_search(rows, ask("bees"), Corpus(1, 1)) == []
    assert nearest(rows, unit(*VECTOR), MODEL, 5, -1) == []


# --- Words -----------------------------------------------------------------------------------------------------


def test_every_row_is_stemmed_in_its_own_language(owner):
    rows = [
        Said("She was baking cakes", language="en"),
        Said("Sie hat Kuchen gebacken und Häuser gebaut", language="de"),
        Said("Ella horneaba tortas", language="es"),
        Said("Baking, unbekannt", language="xx"),
    ]
    say(owner, rows)

    def found(text, language=""):
        query = ask(text, None, language=language)
        return {hit.id for hit in search(owner, query, rows)}

    assert found("who baked a cake") == {rows[0].id}
    assert found("in welchem Haus", "de") == {rows[1].id}
    assert found("torta") == {rows[2].id}
    assert found("baking") == {rows[0].id, rows[3].id}


def test_stop_words_of_the_question_do_not_count_in_rows_of_unknown_language(owner):
    rows = [Said("what did the", language="xx"), Said("what did Caroline buy", language="xx")]
    say(owner, rows)
    hits = search(owner, ask("what did Caroline do in the garden yesterday", None, language="en"), rows)
    assert [hit.id for hit in hits] == [rows[1].id]
    assert hits[0].keyword is not None


def test_words_of_one_stem_count_once(owner):
    rows = [Said("bees bake", language="en"), Said("piano", language="en")]
    say(owner, rows)
    once, twice = (
        search(owner, ask(text, None, language="en"), rows)[0].keyword for text in ("bake", "baking bakes baked bake")
    )
    assert once == twice


def test_rare_words_count_more_and_long_texts_less(owner):
    rows = [
        Said("bees piano"),
        Said("bees sea"),
        Said("bees garden"),
        Said("bees " + "filler " * 40),
        Said("honey"),
    ]
    say(owner, rows)
    scores = {hit.id: hit.keyword for hit in search(owner, ask("bees piano", None), rows)}
    assert max(scores, key=scores.get) == rows[0].id
    assert min(scores, key=scores.get) == rows[3].id
    assert rows[4].id not in scores


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Wir waren im Café", "cafe"),
        ("東京都に住んでいます", "京都"),
        ("ที่นี่สวยมาก", "สวย"),
        ("Ёлка у дома", "елка"),
        ("it's 'quoted' \\ & | ! <-> :*", "quoted"),
    ],
)
def test_words_are_found_in_every_script(owner, stored, asked):
    rows = [Said(stored, language=""), Said("something else")]
    say(owner, rows)
    assert [hit.id for hit in search(owner, ask(asked, None, language=""), rows)] == [rows[0].id]


@pytest.mark.parametrize(
    "text", ["' OR 1=1 --", "%s {vector} :* & | !", "\\' \" ; \0", "\ud800", "x" * 40_000, "a " * 20_000, "?!"]
)
def test_no_question_breaks_the_statement(owner, text):
    rows = [Said("bees", VECTOR)]
    say(owner, rows)
    assert [hit.id for hit in search(owner, ask(text, language=""), rows)] == [rows[0].id]


# --- Vectors ---------------------------------------------------------------------------------------------------


def test_vectors_of_another_model_are_not_compared_but_the_words_are(owner):
    rows = [Said("bees", VECTOR, model="old:4"), Said("sea", (0.9, 0.1, 0, 0))]
    say(owner, rows)
    hits = {hit.id: hit for hit in search(owner, ask("bees"), rows)}
    assert hits[rows[0].id].similarity is None
    assert hits[rows[0].id].keyword is not None
    assert hits[rows[1].id].similarity == pytest.approx(0.9939, abs=1e-3)
    assert [hit.id for hit in nearest(own_rows(owner), unit(*VECTOR), MODEL, 5, -1)] == [rows[1].id]


def test_a_vector_of_another_size_is_never_compared(owner):
    rows = [Said("bees", (1, 0), model="tiny:2"), Said("honey", VECTOR)]
    say(owner, rows)
    hits = {hit.id: hit.similarity for hit in search(owner, ask("honey bees"), rows)}
    assert hits == {rows[0].id: None, rows[1].id: 1.0}


def test_a_row_that_waits_for_its_vector_is_found_by_its_words(owner):
    rows = [Said("bees"), Said("sea", VECTOR), Said("piano", (0, 1, 0, 0))]
    say(owner, rows)
    hits = search(owner, ask("bees"), rows)
    assert {hit.id for hit in hits} == {row.id for row in rows}
    assert next(hit for hit in hits if hit.id == rows[0].id).similarity is None


def test_with_the_embedder_away_words_alone_decide(owner):
    rows = [Said("bees and honey", (0, 1, 0, 0)), Said("bees", (0, 1, 0, 0)), Said("sea", VECTOR)]
    say(owner, rows)
    hits = search(owner, ask("bees honey", None), rows)
    assert [hit.id for hit in hits] == [rows[0].id, rows[1].id]
    assert [hit.similarity for hit in hits] == [None, None]
    assert search(owner, ask("?!", None), rows) == []


def test_nearest_cuts_off_what_is_too_far(owner):
    rows = [Said("a", VECTOR), Said("b", (1, 1, 0, 0)), Said("c", (0, 1, 0, 0))]
    say(owner, rows)
    hits = nearest(own_rows(owner), unit(*VECTOR), MODEL, 5, 0.5)
    assert [hit.id for hit in hits] == [rows[0].id, rows[1].id]
    assert [hit.similarity for hit in hits] == pytest.approx([1, 0.7071], abs=1e-3)
    assert [hit.score for hit in hits] == [hit.similarity for hit in hits]
    assert nearest(own_rows(owner), unit(*VECTOR), MODEL, 0, 0.5) == []


# --- The ranking -----------------------------------------------------------------------------------------------


def test_equal_scores_are_ordered_by_id_and_every_search_gives_the_same(owner):
    rows = [Said("bees", VECTOR) for _ in range(8)]
    say(owner, rows)
    first = search(owner, ask("bees", top_k=5), rows)
    assert [hit.id for hit in first] == sorted(row.id for row in rows)[:5]
    assert {hit.score for hit in first} == {0.0}
    assert all(search(owner, ask("bees", top_k=5), rows) == first for _ in range(3))


def test_the_weights_decide_between_meaning_and_words(owner):
    rows = [Said("sea", VECTOR), Said("bees", (0, 1, 0, 0)), Said("garden", (0, 0, 1, 0))]
    say(owner, rows)
    by_meaning = search(owner, ask("bees"), rows, weights=SearchWeights(vector=1))
    by_word = search(owner, ask("bees"), rows, weights=SearchWeights(vector=0))
    assert (by_meaning[0].id, by_word[0].id) == (rows[0].id, rows[1].id)


def test_what_all_rows_have_in_common_does_not_count(owner):
    # Every vector lies near (1, 1, 1, 1); the second of the question's parts is what tells the rows apart.
    rows = [Said(f"row{number}", (6, 5, 5, 5)) for number in range(40)]
    general, own = Said("general", (5, 5, 5, 5)), Said("own", (3, 7, 3, 3))
    rows += [general, own]
    say(owner, rows)
    query = ask("", (5, 6, 5, 5))
    assert search(owner, query, rows, weights=SearchWeights(centre=0))[0].id == general.id
    assert search(owner, query, rows)[0].id == own.id


def test_a_sample_of_many_rows_gives_the_centre(owner, monkeypatch):
    monkeypatch.setattr(searching, "CENTRE_SAMPLE", 200)
    random = np.random.default_rng(3)
    rows = [Said("x", tuple(random.normal([4, 0, 0, 0]))) for _ in range(600)]
    say(owner, rows)
    weights = SearchWeights(vector=1)
    whole = fused_scores(rows, similarities(rows, (1, 1, 0, 0)), {}, weights)
    hits = search(owner, ask("", (1, 1, 0, 0), top_k=50), rows, weights=weights)
    assert [hit.score for hit in hits] == pytest.approx([whole[hit.id] for hit in hits], abs=0.4)
    assert len({hit.id for hit in hits} & set(sorted(whole, key=whole.get, reverse=True)[:50])) >= 40


def test_what_speaks_for_a_row_whatever_is_asked_is_added(owner):
    rows = [Said("bees", VECTOR), Said("sea", (0, 1, 0, 0)), Said("garden", (0, 0, 1, 0))]
    say(owner, rows)
    prior = Case(When(content="garden", then=Value(5.0)), default=Value(-1.0), output_field=FloatField())
    plain = {hit.id: hit.score for hit in search(owner, ask("bees"), rows)}
    hits = hybrid_search(own_rows(owner), ask("bees"), corpus(rows), prior=prior)
    assert hits[0].id == rows[2].id
    gains = {hit.id: hit.score - plain[hit.id] for hit in hits}
    assert gains == pytest.approx({rows[0].id: -1, rows[1].id: -1, rows[2].id: 5})


PLACE = Place(talk="conversation_id", place="index", speaker="speaker")


def test_a_turn_takes_part_in_what_its_neighbours_score(owner):
    rows = [Said(text) for text in ("garden sea", "yes", "bees honey", "no", "sea", "piano", "piano", "well")]
    say(owner, rows)
    query = ask("bees honey sea", (1, 0, 0, 0))
    Message.objects.update(embedding=unit(0, 1, 0, 0), embedding_model=MODEL)
    plain = {hit.id: hit.score for hit in search(owner, query, rows)}
    placed = {hit.id: hit.score for hit in hybrid_search(own_rows(owner), query, corpus(rows), said=PLACE)}
    gains = [placed[row.id] - plain[row.id] for row in rows]
    assert gains[1] > gains[5] > 0 == gains[7]
    with pytest.raises(AssertionError):
        assert placed == pytest.approx(plain)


def test_the_turn_of_whom_the_question_names_comes_first(owner):
    rows = [Said("the bees", VECTOR), Said("the bees", VECTOR)]
    say(owner, rows)
    Message.objects.filter(pk=rows[1].id).update(speaker="Rosa Lind")
    for text in ("What did Rosa say?", "What did Rossa say?"):
        hits = hybrid_search(own_rows(owner), ask(text), corpus(rows), said=PLACE)
        assert [hit.id for hit in hits] == [rows[1].id, rows[0].id]
        assert hits[0].score - hits[1].score == pytest.approx(SearchWeights().speaker)


def test_context_takes_no_statement_more_and_obeys_limit_and_threshold(owner, django_assert_num_queries):
    rows = [Said(f"bees {number}", VECTOR) for number in range(12)]
    say(owner, rows)
    with django_assert_num_queries(2):
        hits = hybrid_search(own_rows(owner), ask("bees 3", top_k=4), corpus(rows), said=PLACE)
    assert len(hits) == 4
    assert hits[0].id == rows[3].id
    query = ask("bees 3", top_k=4, threshold=hits[0].score)
    assert hybrid_search(own_rows(owner), query, corpus(rows), said=PLACE) == hits[:1]


def test_a_threshold_cuts_off_what_scores_less(owner):
    rows = [Said("bees", VECTOR), Said("sea", (0, 1, 0, 0)), Said("garden", (0, 0, 1, 0))]
    say(owner, rows)
    everything = search(owner, ask("bees"), rows)
    assert [hit.id for hit in search(owner, ask("bees", threshold=0.0), rows)] == [rows[0].id]
    assert search(owner, ask("bees", threshold=everything[-1].score), rows) == everything
    assert search(owner, ask("bees", top_k=0), rows) == []


def test_a_ledger_that_counts_too_little_breaks_nothing(owner):
    rows = [Said("bees"), Said("bees honey")]
    say(owner, rows)
    hits = hybrid_search(own_rows(owner), ask("bees honey", None), Corpus(0, 0))
    assert [hit.id for hit in hits] == [rows[1].id, rows[0].id]
    assert all(hit.keyword > 0 for hit in hits)


def test_a_search_is_one_statement_and_one_for_a_centre_that_is_not_known(owner, django_assert_num_queries):
    rows = [Said("bees", VECTOR)]
    say(owner, rows)
    with django_assert_num_queries(2):
        found = search(owner, ask("bees"), rows)
    centre = centre_of(own_rows(owner), MODEL, corpus(rows))
    with django_assert_num_queries(1):
        assert hybrid_search(own_rows(owner), ask("bees"), corpus(rows), centre=centre) == found
    with django_assert_num_queries(1):
        search(owner, ask("bees", None), rows)
    with django_assert_num_queries(1):
        nearest(own_rows(owner), unit(*VECTOR), MODEL, 5, 0)


def test_a_name_that_nobody_has_is_looked_for_with_a_letter_wrong(owner, django_assert_num_queries):
    rows = [Said("Katarina keeps bees"), Said("the garden of Anna"), Said("a sea of names")]
    say(owner, rows)
    whole = corpus(rows)

    def found(text):
        return {hit.id: hit.keyword for hit in hybrid_search(own_rows(owner), ask(text, None), whole) if hit.keyword}

    right = found("garden Katarina")
    assert right.keys() == {rows[0].id, rows[1].id}
    assert found("garden Catarina") == right
    # In small letters it may be any word, and one that is held somewhere is spelt as it is meant.
    for text in ("garden catarina", "garden Anna"):
        with django_assert_num_queries(1):
            assert found(text).keys() == {rows[1].id}
    with django_assert_num_queries(1):
        much = replace(whole, terms=searching.ALIKE_TERMS + 1)
        assert len(hybrid_search(own_rows(owner), ask("garden Catarina", None), much)) == 1
    with django_assert_num_queries(2):
        assert found("garden Wilhelmina").keys() == {rows[1].id}
    # Whoever writes every word with a capital does not make it compare each with everything.
    others = "Wilhelmina Ferdinand Leopold"
    assert found(f"garden {others} Catarina") == right
    assert found(f"garden {others} Gottfried Catarina").keys() == {rows[1].id}
