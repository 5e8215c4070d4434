"""LangChain's retriever and chat history against a server."""

from __future__ import annotations

import asyncio

import pytest
from keepsake import Keepsake
from keepsake.langchain import KeepsakeChatMessageHistory, KeepsakeRetriever
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory


def test_the_retriever_finds_memories_with_what_is_known_of_them() -> None:
    with Keepsake() as client:
        made = client.add("The user keeps forty hens.", "interests", metadata={"source": "test"}, run_id="r1")
        client.add("The user plays the oboe.", "interests")
    retriever = KeepsakeRetriever(k=1)
    (document,) = retriever.invoke("Who keeps hens?")
    assert (document.page_content, document.id) == ("The user keeps forty hens.", made["id"])
    assert document.metadata["metadata"] == {"source": "test"}
    assert document.metadata["score"] > 0
    narrowed = KeepsakeRetriever(options={"filters": {"run_id": "r1"}})
    assert [each.id for each in asyncio.run(narrowed.ainvoke("hens or the oboe"))] == [made["id"]]


def test_a_chat_is_a_conversation_that_goes_on() -> None:
    chat = KeepsakeChatMessageHistory("chat-1")
    assert chat.messages == []
    chat.add_messages([SystemMessage("Be brief."), HumanMessage("  Hello,\nyou."), AIMessage("Hello.")])
    again = KeepsakeChatMessageHistory("chat-1")
    again.add_user_message("More?")
    assert [(each.type, each.content) for each in chat.messages] == [
        ("system", "Be brief."), ("human", "  Hello,\nyou."), ("ai", "Hello."), ("human", "More?"),
    ]  # fmt: skip
    assert KeepsakeChatMessageHistory("chat-2").messages == []
    with pytest.raises(ValueError, match="texts"):
        chat.add_messages([HumanMessage("x"), ToolMessage("y", tool_call_id="1")])
    assert len(chat.messages) == 4
    with pytest.raises(NotImplementedError, match="erased by the person"):
        chat.clear()


def test_many_messages_are_read_page_by_page() -> None:
    chat = KeepsakeChatMessageHistory("long")
    chat.add_messages([HumanMessage(f"Message {number}.") for number in range(130)])
    assert [each.content for each in chat.messages] == [f"Message {number}." for number in range(130)]


def test_it_can_be_awaited() -> None:
    async def talk() -> None:
        chat = KeepsakeChatMessageHistory("awaited")
        await chat.aadd_messages([HumanMessage("Hello.")])
        assert [each.content for each in await chat.aget_messages()] == ["Hello."]
        await chat.aclose()

    asyncio.run(talk())


def test_a_chain_remembers_its_messages() -> None:
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda messages: AIMessage(f"That is message {len(messages)}.")), KeepsakeChatMessageHistory
    )
    config = {"configurable": {"session_id": "chain"}}
    assert chain.invoke([HumanMessage("One.")], config).content == "That is message 1."
    assert chain.invoke([HumanMessage("Two.")], config).content == "That is message 3."
