"""The OpenAI Agents SDK over ``KeepsakeSession``, against a server and a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    SessionSettings,
    function_tool,
    set_tracing_disabled,
)
from agents.memory import Session
from chat_api import called, chat_model, said
from keepsake import Keepsake
from keepsake.openai_agents import KeepsakeSession
from openai import AsyncOpenAI

set_tracing_disabled(True)
USER = {"role": "user", "content": "  I keep forty hens.\n"}
REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "How nice.", "annotations": []}, {"type": "refusal", "refusal": "No."}],
}
CALL = {"type": "function_call", "call_id": "c1", "name": "count", "arguments": '{"of": "hens"}'}
RETURNED = {"type": "function_call_output", "call_id": "c1", "output": "40"}


@function_tool
def count(of: str) -> int:
    """Count animals."""
    return 40


def agent(url: str) -> Agent:
    client = AsyncOpenAI(base_url=url, api_key="none")
    return Agent("hens", model=OpenAIChatCompletionsModel("stub", client), tools=[count])


def messages(session_id: str) -> list[tuple[str, str]]:
    with Keepsake() as client:
        made = client.create_conversation(channel="openai-agents", external_id=session_id)
        return [(each["role"], each["content"]) for each in client.messages(made["id"])]


def test_a_run_goes_on_where_another_ended() -> None:
    with chat_model(called("count", of="hens"), said("You keep forty.")) as (url, asked):
        first = Runner.run_sync(agent(url), "How many hens do I keep?", session=KeepsakeSession("runs"))
    assert first.final_output == "You keep forty."
    with chat_model(said("Forty hens lay about thirty eggs.")) as (url, asked):
        Runner.run_sync(agent(url), "And how many eggs?", session=KeepsakeSession("runs"))
    told = asked[0]["messages"]
    assert [each["role"] for each in told] == ["user", "assistant", "tool", "assistant", "user"]
    assert (told[2]["content"], told[3]["content"]) == ("40", "You keep forty.")


def test_a_streamed_run_is_kept_like_any_other() -> None:
    async def talk() -> str:
        with chat_model(called("count", of="hens"), said("You keep forty.")) as (url, _):
            run = Runner.run_streamed(agent(url), "How many hens do I keep?", session=KeepsakeSession("streamed"))
            raw = [event.data async for event in run.stream_events() if event.type == "raw_response_event"]
        return "".join(each.delta for each in raw if each.type == "response.output_text.delta")

    assert asyncio.run(talk()) == "You keep forty."
    assert messages("streamed") == [("user", "How many hens do I keep?"), ("assistant", "You keep forty.")]
    assert len(asyncio.run(KeepsakeSession("streamed").get_items())) == 4
    assert messages("runs") == [
        ("user", "How many hens do I keep?"), ("assistant", "You keep forty."),
        ("user", "And how many eggs?"), ("assistant", "Forty hens lay about thirty eggs."),
    ]  # fmt: skip


def test_one_session_serves_several_runs_and_loops() -> None:
    session = KeepsakeSession("loops")
    assert isinstance(session, Session)
    with chat_model(said("Yes.")) as (url, _):
        for number in range(3):
            asyncio.run(Runner.run(agent(url), f"Question {number}?", session=session))
    assert len(asyncio.run(session.get_items())) == 6
    session.close()


def test_items_come_back_as_they_were() -> None:
    async def use() -> None:
        session = KeepsakeSession("items", session_settings=SessionSettings(limit=2))
        items: list[Any] = [
            USER, CALL, RETURNED, REPLY,
            {"role": "developer", "content": "Be brief."}, {"role": "user", "content": " "},
            {"role": "user", "content": [{"type": "input_image", "image_url": "data:,", "detail": "auto"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hens."}]},
            {"role": "user", "content": "x" * 70_000},
        ]  # fmt: skip
        assert await session.get_items() == []
        await session.add_items([])
        await session.add_items(items[:4])
        await KeepsakeSession("items").add_items(items[4:])
        assert await session.get_items(limit=100) == items
        assert await session.get_items() == items[-2:]
        assert await session.get_items(limit=0) == []
        assert [len(text) for _, text in messages("items")][-3:] == [32_000, 32_000, 6_000]
        assert messages("items")[:3] == [
            ("user", USER["content"]), ("assistant", "How nice."), ("system", "Be brief."),
        ]  # fmt: skip

    asyncio.run(use())


def test_the_last_is_taken_back_and_a_history_begins_anew() -> None:
    async def use() -> None:
        session = KeepsakeSession("pops")
        assert await session.pop_item() is None
        await session.add_items([USER, CALL])
        assert await session.pop_item() == CALL
        assert await session.pop_item() == USER
        assert await session.pop_item() is None
        await session.add_items([USER, REPLY])
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([REPLY])
        assert await session.get_items() == [REPLY]

    asyncio.run(use())
    assert [role for role, _ in messages("pops")] == ["user", "user", "assistant", "assistant"]


def test_what_several_add_at_once_is_all_kept() -> None:
    async def use() -> None:
        sessions = [KeepsakeSession("race") for _ in range(4)]
        await asyncio.gather(*(each.add_items([{**CALL, "call_id": f"c{at}"}]) for at, each in enumerate(sessions)))
        assert {each["call_id"] for each in await sessions[0].get_items()} == {"c0", "c1", "c2", "c3"}

    asyncio.run(use())


def test_what_the_person_had_withheld_is_withheld_here() -> None:
    async def use() -> None:
        session = KeepsakeSession("withheld")
        await session.add_items([{"role": "user", "content": "I am allergic to penicillin."}])
        await session.add_items([{"role": "user", "content": "Forget that I am allergic to penicillin."}])
        assert "penicillin" not in str(await session.get_items())

    asyncio.run(use())
