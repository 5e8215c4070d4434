"""The offline rules as they choose tools: labelled talk, what comes of earlier rounds, and bounds."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from language.base import KnownMemory, ToolRequest, ToolResult, ToolRound, ToolSpec
from language.offline.model import OfflineModel
from tests.language.offline_talk import MEMORY_CATEGORIES, conversation

TOOLS = (
    ToolSpec("add_to_memory", "Remember something.", {"type": "object", "properties": {"insist": {"type": "boolean"}}}),
    ToolSpec("update_memory", "Change a memory.", {"type": "object"}),
    ToolSpec("delete_memory", "Forget a memory.", {"type": "object"}),
    ToolSpec("doubt_memory", "Ask about a memory.", {"type": "object"}),
)
GROUPS = yaml.load((Path(__file__).parent / "choosing.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
CASES = [
    pytest.param(case, group.get("known", {}), id=f"{group['group']}-{number}")
    for group in GROUPS
    for number, case in enumerate(group["cases"])
]
SAID = [case["say"] for group in GROUPS for case in group["cases"] if isinstance(case["say"], str)]
MEMORY = re.compile(r"(?P<category>\w+)(?:/(?P<field>\w+))?(?: \((?P<subject>[^)]+)\))?: (?P<content>.+)")


def memory(name, written):
    """A memory out of "category/field (subject): content"; its id begins with its name."""
    read = MEMORY.fullmatch(written)
    return KnownMemory(
        name.ljust(8, "0"),
        read["category"],
        read["subject"] or "",
        read["content"],
        read["field"] or "",
        date(2023, 1, 1),
    )


def request(*said, known=(), rounds=(), most=20, tools=TOOLS):
    return ToolRequest(conversation(*said).messages, "Ana", known, tools, MEMORY_CATEGORIES, most, rounds)


def calls(*said, **options):
    return OfflineModel().choose_tools(request(*said, **options)).calls


def written(call):
    given_ = call.arguments
    asked = "! " if given_.get("explicit") else ""
    if call.name == "add_to_memory":
        field = f"/{given_['field']}" if "field" in given_ else ""
        return f"{asked}add {given_['category']}{field}: {given_['content']}"
    known = given_["memory_id"].rstrip("0")
    return f"{asked}delete {known}" if call.name == "delete_memory" else f"{asked}update {known}: {given_['content']}"


@pytest.mark.parametrize(("case", "known"), CASES)
def test_talk_calls_for_what_it_says_and_no_more(case, known):
    said = case["say"] if isinstance(case["say"], list) else [case["say"]]
    asked = request(*said, known=[memory(*each) for each in known.items()])
    chosen = OfflineModel().choose_tools(asked).calls
    assert [written(call) for call in chosen] == case.get("calls", [])
    for call in chosen:
        evidence = call.arguments["evidence"]
        (message,) = [each for each in asked.messages if each.index == evidence["index"]]
        assert message.role == "user"
        assert evidence["quote"]
        assert evidence["quote"] in message.content


def test_there_are_enough_cases_and_enough_traps():
    cases = [case for group in GROUPS for case in group["cases"]]
    assert len(cases) >= 140
    assert sum("calls" not in case for case in cases) >= 80


def test_an_addition_says_what_it_is_about_and_what_it_weighs():
    (call,) = calls("Remember that my sister Inês lives in London.")
    assert call.name == "add_to_memory"
    assert call.arguments == {
        "content": "The user's sister Inês lives in London.",
        "category": "person",
        "subject": "Inês",
        "explicit": True,
        "importance": 4,
        "evidence": {"index": 0, "quote": "my sister Inês lives in London."},
    }


def test_the_answer_names_the_rules_and_costs_nothing():
    answer = OfflineModel().choose_tools(request("I like tea."))
    assert (answer.model, answer.usage.input_tokens, answer.usage.output_tokens) == ("offline rules 1", 0, 0)
    assert len(answer.calls) == 1


def test_no_more_calls_than_there_may_be_in_all():
    said = "I like tea. I live in Porto. I am a nurse. I have two cats."
    assert len(calls(said)) == 4
    assert len(calls(said, most=3)) == 3
    assert calls(said, most=0) == ()


def test_only_tools_that_are_offered_are_called():
    known = [memory("tea", "preference: The user likes tea."), memory("faro", "context/city: The user lives in Faro.")]
    said = "Forget that I like tea. I live in Porto. I am a nurse."
    assert len(calls(said, known=known)) == 3
    assert [call.name for call in calls(said, known=known, tools=TOOLS[:1])] == ["add_to_memory"]
    assert calls(said, known=known, tools=()) == ()


def test_what_is_said_about_a_legacy_is_kept_elsewhere_unless_it_is_asked_for():
    talk = replace(request("Rosa baked bread. I live in Porto. My uncle Tom lives in Braga."), legacy_name="Rosa")
    assert [written(call) for call in OfflineModel().choose_tools(talk).calls] == [
        "add profile/city: The user lives in Porto.",
        "add person: The user's uncle Tom lives in Braga.",
    ]
    talk = replace(request("Remember that my uncle Tom lives in Braga."), legacy_name="Rosa")
    assert [written(call) for call in OfflineModel().choose_tools(talk).calls] == [
        "! add person: The user's uncle Tom lives in Braga."
    ]


# --- Rounds -----------------------------------------------------------------------------------------------------

LONDON = memory("ines", "person (Inês): The user's sister Inês lives in London.")


def again(
    *said, known=(LONDON,), result="There is one: [id:ines0000] The user's sister Inês lives in London.", **options
):
    """The calls of the second round, when each of the first was answered by ``result``."""
    first = calls(*said, known=known)
    ok = options.pop("ok", False)
    results = tuple(ToolResult(call.id, result, ok) for call in first)
    return calls(*said, known=known, rounds=(ToolRound(first, results),), **options)


def test_what_has_changed_about_a_known_subject_is_changed():
    (call,) = calls("Remember that my sister Inês lives in Paris.", known=(LONDON,))
    assert call.name == "update_memory"
    assert call.arguments == {
        "memory_id": "ines0000",
        "content": "The user's sister Inês lives in Paris.",
        "explicit": True,
        "evidence": {"index": 0, "quote": "my sister Inês lives in Paris."},
    }


def test_something_else_about_a_known_subject_stands_beside_it():
    (call,) = again("My sister Inês loves hiking.")
    assert call.name == "add_to_memory"
    assert call.arguments["insist"] is True
    assert call.arguments["content"] == "The user's sister Inês loves hiking."


@pytest.mark.parametrize(
    "options",
    [
        {"ok": True},
        {"result": "Not taken. Such data is not stored."},
        {"result": "There is one: [id:unknown0]"},
        {"tools": TOOLS[2:]},
        {"most": 1},
    ],
    ids=["taken", "another reason", "unknown id", "tool not offered", "no calls left"],
)
def test_a_second_round_does_nothing_else(options):
    assert again("My sister Inês lives in Paris.", **options) == ()


def test_what_is_not_certain_to_be_news_is_not_insisted_on_where_that_can_not_be_said():
    plain = (ToolSpec("add_to_memory", "", {"type": "object"}), *TOOLS[1:])
    assert again("My sister Inês loves hiking.", tools=plain) == ()


def test_one_memory_is_changed_once():
    known = (LONDON,)
    said = "My sister Inês lives in Paris. My sister Inês works in Lyon."
    first = calls(said, known=known)
    assert len(first) == 2
    results = tuple(ToolResult(call.id, "See [id:ines0000].", ok=False) for call in first)
    second = calls(said, known=known, rounds=(ToolRound(first, results),))
    assert [call.arguments.get("memory_id") for call in (*first, *second)].count("ines0000") == 1


@pytest.mark.parametrize("said", ["Not Emil, Anton.", "No, Anton, not Emil."])
def test_what_is_remembered_by_now_is_corrected_and_not_added_again(said):
    known = [memory("emil", "person (Emil): The user's brother is called Emil.")]
    chosen = calls("Remember that my brother is called Emil.", said, known=known)
    assert [written(call) for call in chosen] == ["update emil: The user's brother is called Anton."]


def test_two_ids_in_a_result_leave_it_open_which_is_meant():
    other = memory("anna", "person (Anna): Anna lives in Rome.")
    result = "There are two: [id:ines0000] [id:anna0000]"
    assert again("My sister Inês lives in Paris.", known=(LONDON, other), result=result) == ()


def test_a_third_round_has_nothing_left_to_do():
    first = calls("My sister Inês lives in Paris.")
    refused = ToolRound(first, tuple(ToolResult(call.id, "See [id:ines0000].", ok=False) for call in first))
    assert calls("My sister Inês lives in Paris.", known=(LONDON,), rounds=(refused, refused)) == ()


# --- Anything at all --------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80) | st.sampled_from(SAID), max_size=4))
def test_any_talk_ends_in_the_same_calls_each_time(said):
    known = [memory("tea", "preference: The user likes tea."), LONDON]
    first = calls(*said, known=known)
    assert first == calls(*said, known=known)
    assert all(call.arguments.get("memory_id", LONDON.id) in {each.id for each in known} for call in first)
    assert len({call.id for call in first}) == len(first)


def test_a_no_to_what_is_withheld_already_does_not_mean_what_was_said_before_it():
    known = [memory("harp", "knowledge: The user plays the harp.")]
    said = (
        "I play the harp.",
        "guide> Noted.",
        "I had a breakdown in 2019.",
        "guide> Shall I?",
        "Please don't keep that.",
    )
    asked = request(*said, known=known)
    shown = replace(asked, messages=tuple(each for each in asked.messages if each.index != 2))
    deleted = [call.name for call in OfflineModel().choose_tools(shown).calls]
    assert "delete_memory" not in deleted
    near = request(*said[:2], said[4], known=known)
    assert "delete_memory" in [call.name for call in OfflineModel().choose_tools(near).calls]
