"""Guessing what lies behind what was said: by rule, and over the Messages API against a server on this machine."""

import logging
from datetime import UTC, date, datetime

import pytest

from language.anthropic_model import AnthropicModel, Endpoint
from language.anthropic_model.guessing import MOST_INSIGHT_TOKENS
from language.base import KnownMemory, ModelAnswerInvalid, ModelUnavailable, Usage, Utterance
from language.insights import LONGEST_INSIGHT, InsightRequest, Insights
from language.offline.model import OfflineModel
from tests.language.messages_api import KEY, MODEL, error, message

AT = datetime(2026, 11, 1, tzinfo=UTC)


def noted(*contents):
    return [
        KnownMemory(f"memory{at:02}", "context", "", each, "", date(2026, 11, 1)) for at, each in enumerate(contents)
    ]


def said(*contents):
    return [Utterance(at, "user", "ana", each, AT) for at, each in enumerate(contents)]


SHOWN = InsightRequest(
    noted("The user moved to Porto.", "The user <left> a job."), said("I told Ben the truth at last.")
)
TRUST = {
    "summary": "The user trusts Ben more since telling the truth.",
    "tags": ["trust"],
    "importance": 2,
    "memories": ["memory01"],
    "messages": [0],
}


@pytest.fixture
def model(server):
    return AnthropicModel(MODEL, Endpoint(base_url=server.url, api_key=KEY, timeout_seconds=5, retries=0))


def insights_of(server, model, *listed):
    server.answers(message({"insights": list(listed)}))
    return model.insights(SHOWN)


def test_one_short_call_of_structured_output(server, model):
    (found,) = insights_of(server, model, TRUST).found
    assert (found.content, found.topics, found.importance) == (TRUST["summary"], ("trust",), 2)
    assert (found.memories, found.messages) == (("memory01",), (0,))
    (sent,) = server.requests
    assert sent.body["max_tokens"] == MOST_INSIGHT_TOKENS <= 220
    assert "$" not in sent.instructions
    assert '<memory id="memory01" category="context" subject="" field="" date="2026-11-01">' in sent.content
    assert "The user &lt;left&gt; a job." in sent.content


def test_what_the_call_used_is_told(server, model):
    assert insights_of(server, model).usage.output_tokens > 0


@pytest.mark.parametrize(
    "fault",
    [
        {"memories": [], "messages": []},
        {"memories": ["memory77"]},
        {"messages": [4]},
        {"summary": " "},
        {"summary": "The user likes boats. " * 14},
        {"importance": 5},
    ],
)
def test_single_ones_that_break_a_rule_are_dropped(server, model, fault):
    assert len("The user likes boats. " * 14) > LONGEST_INSIGHT
    assert [each.content for each in insights_of(server, model, TRUST | fault, TRUST).found] == [TRUST["summary"]]


def test_there_are_three_at_most(server, model):
    listed = [TRUST | {"summary": f"The user trusts Ben in matter {number}."} for number in range(5)]
    assert [each.content for each in insights_of(server, model, *listed).found] == [
        each["summary"] for each in listed[:3]
    ]


def test_of_nothing_nobody_is_asked(server, model):
    server.answers(message({"insights": []}))
    assert model.insights(InsightRequest([], [])) == Insights()
    assert not server.requests


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(529, "overloaded_error"), ModelUnavailable),
        (message("no"), ModelAnswerInvalid),
        (message({"insights": [{"summary": "x"}]}), ModelAnswerInvalid),
        (message({"insights": []}, stop_reason="max_tokens"), ModelAnswerInvalid),
    ],
)
def test_a_failing_or_broken_answer_raises_and_logs_no_text(server, model, caplog, answer, expected):
    caplog.set_level(logging.DEBUG)
    server.answers(answer)
    with pytest.raises(expected):
        model.insights(SHOWN)
    assert "Porto" not in caplog.text


@pytest.mark.parametrize("answered", [{"text": "no"}, {"stop_reason": "max_tokens"}])
def test_what_a_broken_answer_used_is_told(server, model, answered):
    server.answers(
        message(answered.pop("text", {"insights": []}), usage={"input_tokens": 9, "output_tokens": 2}, **answered)
    )
    with pytest.raises(ModelAnswerInvalid) as raised:
        model.insights(SHOWN)
    assert raised.value.usage == Usage(9, 2)


# --- Without a model --------------------------------------------------------------------------------------------


def guessed(memories=(), messages=()):
    return OfflineModel().insights(InsightRequest(noted(*memories), said(*messages))).found


def test_a_feeling_that_is_named_twice_is_told_with_what_names_it():
    (found,) = guessed(
        ["The user is worried about the move.", "The user keeps bees."],
        ["The doctor rang. I'm a bit anxious about it.", "Lunch was good."],
    )
    assert found.content == "The user seems worried lately."
    assert (found.memories, found.messages) == (("memory00",), (0,))


@pytest.mark.parametrize(
    "messages",
    [
        ["I'm worried about the move."],
        ["I'm worried about the move.", "I'm not worried any more."],
        ["I'm worried about the move.", "Would I be worried? I am anxious if it rains."],
        ["I'm worried.", "Ben said I'm anxious."],
        ["I'm worried.", "Ben is anxious, and the dog is nervous."],
        ["I'm worried.", "I'm so happy."],
        ["I was alone at home.", "I was down at the harbour."],
        ["Ich bin besorgt.", "Ich bin besorgt."],
    ],
)
def test_what_is_named_once_denied_or_said_of_others_is_no_insight(messages):
    assert guessed(messages=messages) == ()


def test_there_are_three_at_most_by_rule_too():
    feelings = ["worried", "happy", "proud", "angry"]
    messages = [f"I am {feeling}." for feeling in feelings for _ in range(2)]
    found = guessed(["The user is angry at the landlord."], messages)
    assert found[0].content == "The user seems angry lately."
    assert len(found) == 3
