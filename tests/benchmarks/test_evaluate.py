import json
import math
from io import StringIO
from unittest import mock

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from assistant.recall.query import answer_question
from benchmarks.evaluation import (
    CachingEmbedder,
    Outcome,
    Report,
    VectorCacheError,
    parse_cases,
)
from benchmarks.evaluation.figures import METRICS, score
from conversations.imports import ImportFileError
from conversations.models import Conversation, Message
from journal.models import Ledger
from language.backends import get_embedder
from language.base import EmbedderUnavailable
from language.embedders.hashing import HashingEmbedder
from retrieval.prepared import Stepwise
from retrieval.weights import PARTS, SearchWeights, default_weights, without
from tests import factories

TURNS = [
    "We planted apple trees behind the house.",
    "Lovely! My brother plays the piano in a small theatre.",
    "The bees made forty jars of honey this summer.",
    "I would like to taste it.",
    "We sailed across the bay in a storm.",
    "That sounds frightening.",
]
LOCOMO = [
    {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Rosa",
            "speaker_b": "Emil",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": ("Rosa", "Emil")[number % 2], "dia_id": f"D1:{number + 1}", "text": text}
                for number, text in enumerate(TURNS)
            ],
        },
        "qa": [
            {"question": "How many jars of honey did the bees make?", "evidence": ["D1:3"], "category": 4},
            {"question": "Who plays piano and who sailed?", "evidence": ["D1:2; D1:05"], "category": 1},
            {"question": "When were the apple trees planted?", "evidence": ["D:1:1", "D"], "category": 2},
            {"question": "What did Emil bake?", "evidence": [], "category": 3},
            {"question": "Which boat was lost?", "evidence": ["D9:9", 7], "category": 3},
            {"question": "What is nowhere?", "category": 3},
            {"question": "Did Emil keep bees?", "evidence": ["D1:3"], "category": 5},
        ],
    }
]
BEAM = {
    "source": "test",
    "chats": [
        {
            "id": 0,
            "messages": [
                {"id": number, "role": ("user", "assistant")[number % 2], "time": "March-15-2024", "content": text}
                for number, text in enumerate(TURNS)
            ],
            "questions": [
                {"ability": "information_extraction", "question": "Jars of honey from the bees?", "gold": [2]},
                {"ability": "summarization", "question": "Sailing and storms?", "gold": [4, 5, 99]},
                {"ability": "summarization", "question": "What else?", "gold": [99]},
                {"ability": "summarization", "question": "What else?"},
            ],
        }
    ],
}


@pytest.fixture
def evaluate(tmp_path, settings):
    """``evaluate("locomo", document)`` runs the command; returns the JSON and what it printed."""
    settings.VAR_DIR = tmp_path / "var"
    settings.KEEPSAKE_ENTAILMENT = "off"  # All of it is one transaction, rolled back, in which tests allow no network.

    def run(form, document, **options):
        path, out, printed = tmp_path / "data.json", tmp_path / "out.json", StringIO()
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        call_command("evaluate", form, path, **{"json": out, **options}, stdout=printed, stderr=StringIO())
        return json.loads(out.read_text()), printed.getvalue()

    return run


# --- The figures -----------------------------------------------------------------------------------------------


def test_the_figures_of_a_ranking():
    ranking = [9, 0, 8, 7, 6, 5, 1, *range(20, 40)]
    figures = dict(zip(METRICS, score(ranking, frozenset({0, 1, 99})), strict=True))
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert figures == pytest.approx(
        {
            "recall@5": 1 / 3,
            "recall@10": 2 / 3,
            "recall@20": 2 / 3,
            "any@5": 1,
            "any@10": 1,
            "any@20": 1,
            "mrr": 1 / 2,
            "ndcg@10": (1 / math.log2(3) + 1 / math.log2(8)) / ideal,
        }
    )


@given(st.permutations(range(30)), st.frozensets(st.integers(0, 40), min_size=1))
def test_figures_stay_within_bounds_and_grow_with_the_rank(ranking, gold):
    figures = dict(zip(METRICS, score(ranking, gold), strict=True))
    assert all(0 <= value <= 1 + 1e-9 for value in figures.values())
    assert figures["recall@5"] <= figures["recall@10"] <= figures["recall@20"]
    assert figures["any@20"] == float(bool(gold & set(ranking[:20])))
    assert (figures["mrr"] > 0) == bool(gold & set(ranking[:20]))


def test_the_best_ranking_scores_full():
    assert score([3, 1, 2], frozenset({1, 3})) == pytest.approx([1] * len(METRICS))
    assert score([], frozenset({1})) == (0,) * len(METRICS)


def test_intervals_hold_the_mean_and_do_not_change_between_runs():
    random = np.random.default_rng(1)
    outcomes = [Outcome("a", tuple(random.random(len(METRICS))), 0.01, 0.02) for _ in range(50)]
    first, second = (Report("m", outcomes, 0).as_json() for _ in range(2))
    assert first == second
    for name in METRICS:
        low, high = first["intervals"][name]
        assert low < first["overall"][name] < high
        assert 0.05 < high - low < 0.3


def test_a_file_of_adversarial_questions_alone_has_no_overall_figures():
    figures = Report("m", [Outcome("adversarial", (1.0,) * len(METRICS), 0.01, 0.02)], 2).as_json()
    assert (figures["questions"], figures["skipped"]) == (0, 2)
    assert figures["overall"]["recall@10"] == 0
    assert figures["intervals"]["recall@10"] == [0, 0]
    assert figures["categories"]["adversarial"]["recall@10"] == 1


# --- The files -------------------------------------------------------------------------------------------------


def test_locomo_evidence_may_hold_several_ids_or_broken_ones():
    (case,) = parse_cases("locomo", json.dumps(LOCOMO))
    assert [question.gold for question in case.questions] == [{2}, {1, 4}, {0}, {2}]
    assert case.skipped == 3


def test_beam_gold_names_messages():
    (case,) = parse_cases("beam", json.dumps(BEAM))
    assert [(question.category, question.gold) for question in case.questions] == [
        ("information_extraction", {2}),
        ("summarization", {4, 5}),
    ]
    assert case.skipped == 2


@pytest.mark.parametrize(
    ("form", "change", "told"),
    [
        ("locomo", lambda data: data[0].pop("qa"), r"\[0\].qa: is missing"),
        (
            "locomo",
            lambda data: data[0]["qa"][1].update(category=9),
            r"\[0\].qa\[1\].category: is none of 1, 2, 3, 4, 5",
        ),
        ("locomo", lambda data: data[0]["qa"][1].update(category=[]), r"category: is none of"),
        ("locomo", lambda data: data[0]["qa"][1].update(evidence="D1:1"), r"evidence: is not a list"),
        ("locomo", lambda data: data[0]["qa"][1].pop("question"), r"question: is missing"),
        ("locomo", lambda data: data[0].update(qa=[]), "no question with valid evidence"),
        ("beam", lambda data: data["chats"][0].pop("questions"), r"chats\[0\].questions: is missing"),
        ("beam", lambda data: data["chats"][0]["questions"][0].update(gold=2), r"gold: is not a list"),
        ("beam", lambda data: data.pop("chats"), "chats: is missing"),
    ],
)
def test_a_wrong_file_is_told_with_the_place(form, change, told):
    data = json.loads(json.dumps(LOCOMO if form == "locomo" else BEAM))
    change(data)
    with pytest.raises(ImportFileError, match=told):
        parse_cases(form, json.dumps(data))


# --- The command -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_locomo_is_asked_of_the_products_own_search(evaluate):
    figures, printed = evaluate("locomo", LOCOMO)
    assert (figures["questions"], figures["skipped"], figures["model"]) == (3, 3, get_embedder().name)
    assert figures["overall"]["recall@20"] == 1
    assert figures["overall"]["any@5"] == 1
    assert figures["categories"]["single-hop"]["mrr"] == 1
    assert figures["categories"]["single-hop"]["questions"] == 1
    assert set(figures["categories"]) == {"single-hop", "multi-hop", "temporal", "adversarial"}
    assert set(figures["overall"]) == set(METRICS)
    assert "overall" in printed
    assert "3 questions without valid evidence" in printed
    assert "Adversarial" in printed


@pytest.mark.django_db
def test_beam_is_asked_by_ability(evaluate):
    figures, printed = evaluate("beam", BEAM)
    assert (figures["questions"], figures["skipped"]) == (2, 2)
    assert figures["categories"]["information_extraction"]["mrr"] == 1
    assert "Adversarial" not in printed


@pytest.mark.django_db
@pytest.mark.parametrize(("form", "document"), [("locomo", LOCOMO), ("beam", BEAM)])
def test_every_part_of_the_search_is_turned_off_in_turn(evaluate, form, document):
    whole, _ = evaluate(form, document)
    figures, printed = evaluate(form, document, ablate=True)
    times = {"search_ms": None, "query_ms": None}
    assert figures | times | {"without": {}} == whole | times
    assert set(figures["without"]) == set(PARTS)
    for part, means in figures["without"].items():
        assert set(means) == set(METRICS)
        lost = 100 * (means["recall@5"] - figures["overall"]["recall@5"])
        assert f"{lost:+9.1f}" in next(line for line in printed.splitlines() if f"without {part}" in line)


@pytest.mark.django_db
def test_a_part_turned_off_is_off(evaluate):
    asked = []

    def search(rows, query, corpus, weights, **options):
        asked.append(weights)
        return []
        yield

    with mock.patch("assistant.recall.search.hybrid_search", Stepwise(search)):
        evaluate("beam", BEAM, ablate=True)
    searches = [SearchWeights(), *(without(part, SearchWeights()) for part in PARTS)]
    assert asked == searches * 2
    assert default_weights() == SearchWeights()


@pytest.mark.django_db
def test_the_database_is_left_as_it_was(evaluate, owner):
    factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))

    def everything():
        return [list(model.objects.order_by("pk").values()) for model in (User, Ledger, Conversation)] + [
            list(Message.objects.order_by("pk").values_list("pk", "content", "index_attempts"))
        ]

    before = everything()
    evaluate("locomo", LOCOMO)
    assert everything() == before


@pytest.mark.django_db
def test_other_peoples_messages_are_no_answers(evaluate, owner):
    alone, _ = evaluate("locomo", LOCOMO)
    conversation = factories.ConversationFactory(user=owner)
    for text in TURNS * 4:
        factories.MessageFactory(conversation=conversation, content=text)
    beside, _ = evaluate("locomo", LOCOMO)
    assert beside["overall"] == alone["overall"]


@pytest.mark.django_db
def test_questions_are_asked_by_the_code_that_answers_agents(evaluate):
    """All of ``sources: [turns]``, and nothing that the answer cuts off for being long."""
    asked = []

    def answer(principal, question):
        asked.append((principal.kind, question.sources, question.top_k, question.query))
        return answer_question(principal, question)

    long = json.loads(json.dumps(BEAM))
    for message in long["chats"][0]["messages"]:
        message["content"] += " And so on, and so on." * 400
    with mock.patch("benchmarks.evaluation.measuring.querying.answer_question", answer):
        figures, printed = evaluate("beam", long)
    assert asked == [("person", ("turns",), 20, each["question"]) for each in BEAM["chats"][0]["questions"][:2]]
    assert figures["overall"]["recall@20"] == 1
    assert figures["query_ms"]["p50"] >= figures["search_ms"]["p50"]
    assert f"A question takes {figures['query_ms']['p50']} ms" in printed


@pytest.mark.django_db
def test_turns_are_prepared_again_to_tell_how_often_they_look_again(evaluate):
    data = json.loads(json.dumps(LOCOMO))
    talk = data[0]["conversation"]
    said = [f"{TURNS[number % 6]} That was number {number}." for number in range(90)]
    talk["session_1"] = [
        {"speaker": ("Rosa", "Emil")[number % 2], "dia_id": f"D1:{number + 1}", "text": text}
        for number, text in enumerate(said)
    ]
    figures, printed = evaluate("locomo", data, turns=True)
    assert {kind: figures[kind]["turns"] for kind in ("said", "question", "follow-up")} == {
        "said": 45,
        "question": 4,
        "follow-up": 4,
    }
    assert 0 < figures["follow-up"]["again"] <= 1
    assert figures["question"]["again"] == 0
    assert figures["follow-up"]["recalled"] >= figures["follow-up"]["first"]
    assert figures["again_ms"]["p50"] <= figures["again_ms"]["most"]
    assert "A second look takes" in printed
    assert not Conversation.objects.exists()


@pytest.mark.django_db
def test_where_no_turn_looks_again_no_time_is_told(evaluate):
    figures, printed = evaluate("locomo", LOCOMO, turns=True)
    assert figures["again_ms"] is None
    assert "A second look takes" not in printed


@pytest.mark.django_db
def test_a_second_run_embeds_no_message_and_tells_the_same(evaluate):
    first, _ = evaluate("locomo", LOCOMO)
    with mock.patch.object(HashingEmbedder, "embed_passages", side_effect=AssertionError):
        second, _ = evaluate("locomo", LOCOMO)
    times = {"search_ms": None, "query_ms": None}
    assert first | times == second | times
    assert isinstance(get_embedder(), HashingEmbedder)


@pytest.mark.django_db
def test_without_json_only_the_table_is_printed(tmp_path, settings):
    settings.VAR_DIR, settings.KEEPSAKE_ENTAILMENT = tmp_path / "var", "off"
    path, printed = tmp_path / "data.json", StringIO()
    path.write_text(json.dumps(BEAM))
    call_command("evaluate", "beam", path, stdout=printed, stderr=StringIO())
    assert "recall@5" in printed.getvalue()
    assert list(tmp_path.glob("*.json")) == [path]


@pytest.mark.django_db
@pytest.mark.parametrize("document", ["", "{", "[]", "{}", "null", "[[]]", '"text"', "[1, 2]"])
@pytest.mark.parametrize("form", ["locomo", "beam"])
def test_what_is_no_dataset_ends_with_one_line(evaluate, form, document):
    with pytest.raises(CommandError, match=r"data\.json: "):
        evaluate(form, document)


def test_a_missing_file_or_directory_ends_with_one_line(tmp_path):
    with pytest.raises(CommandError, match="can't be read") as told:
        call_command("evaluate", "beam", tmp_path / "nowhere.json", stderr=StringIO())
    assert str(told.value).count("nowhere.json") == 1
    with pytest.raises(CommandError, match="is no directory"):
        call_command("evaluate", "beam", tmp_path / "x", json=tmp_path / "nowhere" / "out.json", stderr=StringIO())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EmbedderUnavailable("no weights"), "no weights"),
        (OperationalError("gone"), "The database is away"),
        (KeyboardInterrupt(), "Stopped"),
    ],
)
def test_what_fails_meanwhile_ends_with_one_line(evaluate, error, told):
    with mock.patch.object(HashingEmbedder, "embed_query", side_effect=error), pytest.raises(CommandError, match=told):
        evaluate("beam", BEAM)
    assert isinstance(get_embedder(), HashingEmbedder)


# --- Vectors on disk -------------------------------------------------------------------------------------------


def test_vectors_are_kept_by_model_kind_and_text(tmp_path):
    inner = HashingEmbedder(8)
    path = tmp_path / "deep" / "vectors.sqlite3"
    first = CachingEmbedder(inner, path)
    texts = ["bees", "honey", "bees", "\ud800"]
    vectors = first.embed_passages(texts)
    assert np.array_equal(vectors, inner.embed_passages(texts))
    assert np.array_equal(first.embed_query("bees"), inner.embed_query("bees"))
    assert first.time_query("wax") > 0
    assert np.array_equal(first.embed_query("wax"), inner.embed_query("wax"))
    first.close()
    with mock.patch.object(HashingEmbedder, "embed_passages", side_effect=AssertionError):
        again = CachingEmbedder(inner, path)
        assert np.array_equal(again.embed_passages(texts), vectors)
        again.close()
    inner.name = "another"
    other = CachingEmbedder(inner, path)
    with mock.patch.object(HashingEmbedder, "embed_passages", side_effect=EmbedderUnavailable) as embed:
        with pytest.raises(EmbedderUnavailable):
            other.embed_passages(["bees"])
        embed.assert_called_once_with(["bees"])
    other.close()
    assert b"honey" not in path.read_bytes()


def test_a_spoilt_file_is_told(tmp_path):
    path = tmp_path / "vectors.sqlite3"
    path.write_bytes(b"no database, but long enough to be taken for one" * 40)
    with pytest.raises(VectorCacheError, match="can't be used"):
        CachingEmbedder(HashingEmbedder(8), path)
