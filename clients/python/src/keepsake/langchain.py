"""LangChain: a retriever of memories and a chat message history. Install ``keepsake[langchain]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from .requests import following, segment
from .steps import Call, Clients, Steps, arun, run

_ROLES: Mapping[str, tuple[str, type[BaseMessage]]] = {
    "human": ("user", HumanMessage),
    "ai": ("assistant", AIMessage),
    "system": ("system", SystemMessage),
}
_CLASSES = dict(_ROLES.values())
_CHANNEL = "langchain"


class KeepsakeRetriever(BaseRetriever):
    """Retrieves what helps with a question, best first. A document's metadata holds the memory's other fields.

    Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. ``options`` are those of
    ``POST memories/query/``, such as ``filters``, ``sources`` and ``threshold``. Raises KeepsakeError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    url: str = ""
    key: str = ""
    user: str = ""
    k: int = 10
    options: dict[str, Any] = {}
    _clients: Clients = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Create the clients' holder."""
        super().model_post_init(context)
        self._clients = Clients(self.url, self.key, self.user)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return run(self._find(query), self._clients.sync)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await arun(self._find(query), self._clients.awaited)

    def _find(self, query: str) -> Steps[list[Document]]:
        body = {"top_k": self.k, **self.options, "query": query, "return": "full"}
        answer = yield Call("POST", "memories/query/", body=body)
        return [_document(each) for each in answer["results"]]


def _document(result: Mapping[str, Any]) -> Document:
    about = {name: value for name, value in result.items() if name not in {"content", "text", "related"}}
    return Document(page_content=result.get("content", result["text"]), id=result["id"], metadata=about)


class KeepsakeChatMessageHistory(BaseChatMessageHistory):
    """The messages of a chat, stored as a conversation that Keepsake learns from.

    ``session_id`` is its external id, chosen by the client. Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY
    and KEEPSAKE_USER. Every method raises KeepsakeError.
    """

    def __init__(self, session_id: str, url: str = "", key: str = "", *, user: str = "") -> None:
        self._clients = Clients(url, key, user)
        self._session_id = session_id
        self._path = ""

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages in order."""
        return run(self._read(), self._clients.sync)

    async def aget_messages(self) -> list[BaseMessage]:
        """Return all messages in order."""
        return await arun(self._read(), self._clients.awaited)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages of user, assistant and system. Raises ValueError for others, and adds nothing then."""
        run(self._append(messages), self._clients.sync)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages of user, assistant and system. Raises ValueError for others, and adds nothing then."""
        await arun(self._append(messages), self._clients.awaited)

    def clear(self) -> None:
        """Raise NotImplementedError: only the person can erase messages."""
        raise NotImplementedError(
            "What was said is erased by the person, on the page My data. Take another session_id."
        )

    def close(self) -> None:
        """Close the synchronous client."""
        self._clients.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._clients.aclose()

    def _conversation(self) -> Steps[str]:
        """Return the path of the conversation's messages; the conversation is created if it does not exist."""
        if not self._path:
            body = {"channel": _CHANNEL, "external_id": self._session_id}
            made = yield Call("POST", "conversations/", body=body)
            self._path = f"conversations/{segment(made['id'])}/messages/"
        return self._path

    def _read(self) -> Steps[list[BaseMessage]]:
        path = yield from self._conversation()
        found: list[BaseMessage] = []
        asked: dict[str, Any] | None = {"per_page": 100}
        while asked is not None:
            page = yield Call("GET", path, asked)
            for each in page["results"]:
                if each["role"] in _CLASSES:
                    found.append(_CLASSES[each["role"]](content=each["content"], id=each["id"]))
            asked = following(page)
        return found

    def _append(self, messages: Sequence[BaseMessage]) -> Steps[None]:
        said = [_said(each) for each in messages]
        if said:
            path = yield from self._conversation()
            yield Call("POST", path, body={"messages": said})


def _said(message: BaseMessage) -> dict[str, str]:
    role = _ROLES.get(message.type)
    if role is None or not isinstance(message.content, str) or getattr(message, "tool_calls", None):
        raise ValueError("A chat keeps texts of the user, the assistant and the system, and no calls of tools.")
    return {"role": role[0], "content": message.content}
