"""``KeepsakeSaver`` against a server: the conformance suite, a graph that waits for somebody, and moving to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from importlib.metadata import version
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

from keepsake.langgraph import KeepsakeSaver
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


@checkpointer_test(name="KeepsakeSaver")
async def registered() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
    saver = KeepsakeSaver()
    yield saver
    await saver.aclose()


def test_it_conforms_in_all_capabilities() -> None:
    report = asyncio.run(validate(registered))
    failures = {name: each.failures for name, each in report.results.items() if each.failures}
    assert not failures
    assert all(each.passed for each in report.results.values())
    assert len(report.results) == 8
    if path := os.environ.get("KEEPSAKE_REPORT"):
        rows = "\n".join(
            f"| {name} | {each.tests_passed} | {each.tests_failed} |" for name, each in report.results.items()
        )
        suite, langgraph = version("langgraph-checkpoint-conformance"), version("langgraph-checkpoint")
        Path(path).write_text(f"{suite} {langgraph}\n{rows}\n")


class State(TypedDict):
    said: Annotated[list[str], add]


def graph(saver: BaseCheckpointSaver[Any]) -> Any:
    def ask(state: State) -> dict[str, list[str]]:
        return {"said": [f"answer {interrupt('which?')}"]}

    builder = StateGraph(State)
    builder.add_node("first", lambda state: {"said": ["first"]})
    builder.add_node("ask", ask)
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def test_a_graph_waits_and_another_process_goes_on() -> None:
    config = {"configurable": {"thread_id": "waits"}}
    waiting = graph(KeepsakeSaver()).invoke({"said": ["begin"]}, config)
    assert waiting["__interrupt__"][0].value == "which?"
    resumed = graph(KeepsakeSaver()).invoke(Command(resume="this"), config)
    assert resumed["said"] == ["begin", "first", "answer this"]


def test_moving_from_memory_loses_no_thread() -> None:
    old, new = InMemorySaver(), KeepsakeSaver()
    config = {"configurable": {"thread_id": "moves"}}
    graph(old).invoke({"said": ["begin"]}, config)
    for state in reversed([*old.list(None)]):
        parent = state.parent_config or {"configurable": {**state.config["configurable"], "checkpoint_id": None}}
        at = new.put(parent, state.checkpoint, state.metadata, {})
        for task, channel, value in state.pending_writes or ():
            new.put_writes(at, [(channel, value)], task)
    assert graph(new).invoke(Command(resume="that"), config)["said"] == ["begin", "first", "answer that"]
    assert len([*new.list(config)]) == len([*old.list(config)]) + 1
