"""The client that waits. Generated from ``async_client.py`` by ``tools/generate.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import sleep
from typing import Any, Self, Unpack

import httpx

from . import shapes
from .errors import Unreachable
from .events import Event, Reading
from .requests import Access, Sent, following, in_parts, read, segment, sent, wait_before_retry


class Keepsake:
    """Keepsake over HTTP, for one key, and with a service's key for one ``user``.

    What is not given is read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. A request that fails for a reason that
    passes is sent again up to ``retries`` times, when that can do no harm: every POST carries an Idempotency-Key.
    Every method raises KeepsakeError; what else there is of an object is in its dictionary, as ``/api/docs/`` says.
    """

    def __init__(
        self,
        url: str = "",
        key: str = "",
        *,
        user: str = "",
        retries: int = 3,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        access = Access(url, key, user)
        self.retries = retries
        self._http = httpx.Client(
            base_url=access.base_url, headers=access.headers, timeout=timeout, transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # --- Requests ---

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str = "",
        repeatable: bool | None = None,
        user: str = "",
    ) -> Any:
        """Send a request to any path below ``api/v1/`` and return what the answer says.

        ``key`` is the Idempotency-Key of a POST, one of its own unless it is given. ``repeatable`` says of another
        write that doing it twice is the same as once. ``user`` is whom a service acts for in this request.
        """
        request = sent(method, path, params=params, body=body, key=key, repeatable=repeatable, user=user)
        return read(self._send(request))

    def _send(self, request: Sent, *, stream: bool = False) -> httpx.Response:
        made = self._http.build_request(
            request.method, request.path, params=request.params, content=request.content, headers=request.headers
        )
        left = self.retries
        while True:
            try:
                answer = self._http.send(made, stream=stream)
            except httpx.TransportError as error:
                wait = wait_before_retry(request, error, left)
                if wait is None:
                    raise Unreachable(str(error) or type(error).__name__) from error
            else:
                wait = wait_before_retry(request, answer, left)
                if wait is None:
                    return answer
                answer.close()
            left -= 1
            sleep(wait)

    def _pages(self, path: str, params: Mapping[str, Any]) -> Iterator[Any]:
        """What is on a list's pages, one after the other."""
        asked: Mapping[str, Any] | None = params
        while asked is not None:
            page = self.request("GET", path, params=asked)
            for each in page["results"]:
                yield each
            asked = following(page)

    def _events(self, request: Sent, again: str = "") -> Iterator[Event]:
        """The events of a stream; one that breaks is followed where it can be asked for ``again``."""
        left, last = self.retries, ""
        while True:
            answer = self._send(request, stream=True)
            try:
                if not answer.is_success:
                    answer.read()
                    read(answer)
                again = again or f"{request.path}{answer.headers.get('Keepsake-Reply', '')}/"
                reading = Reading()
                for line in answer.iter_lines():
                    if told := reading.take(line):
                        left, last = self.retries, told.id or last
                        yield told
                        if told.name == "done":
                            return
                return
            except httpx.TransportError as error:
                if left <= 0:
                    raise Unreachable(str(error) or type(error).__name__) from error
            finally:
                answer.close()
            left -= 1
            request = sent("GET", again, params={"after": last or None})

    # --- Memories ---

    def add(self, content: str, category: str, **more: Unpack[shapes.NewMemoryRest]) -> shapes.Remembered:
        """Remember something; ``outcome`` says what became of it. Raises Conflict with a ``memory`` too near."""
        return self.request("POST", "memories/", body={"content": content, "category": category, **more})

    def add_many(self, items: Iterable[shapes.NewMemoryRequest]) -> list[shapes.AddedItem]:
        """Remember any number of things, 1,000 in a transaction: what became of each, in their order.

        What is refused is left out by itself and says so by its ``code``.
        """
        results: list[shapes.AddedItem] = []
        for part in in_parts(items):
            answer = self.request("POST", "memories/bulk/", body={"items": part})
            before = len(results)
            for each in answer["results"]:
                each["index"] += before
                results.append(each)
        return results

    def get(self, memory_id: str) -> shapes.MemoryDetail:
        """A memory with all its wordings."""
        return self.request("GET", f"memories/{segment(memory_id)}/")

    def memories(self, **wanted: Unpack[shapes.MemoriesWanted]) -> Iterator[shapes.Memory]:
        """What is remembered, the latest change first unless ``sort_by`` says otherwise."""
        return self._pages("memories/", {"per_page": 100, **wanted})

    def update(self, memory_id: str, content: str, **more: Unpack[shapes.RewordRest]) -> shapes.RewordedMemory:
        """Give a memory another wording. ``proposal`` is there when that waits for the person."""
        return self.request("PUT", f"memories/{segment(memory_id)}/", body={"content": content, **more})

    def amend(self, memory_id: str, **filing: Unpack[shapes.AmendRequest]) -> shapes.ChangedMemory:
        """File a memory otherwise."""
        return self.request("PATCH", f"memories/{segment(memory_id)}/", body=filing, repeatable=True)

    def delete(self, memory_id: str) -> shapes.ChangedMemory | None:
        """Archive a memory: it can be restored for 30 days. What is answered has a ``proposal`` that waits."""
        return self.request("DELETE", f"memories/{segment(memory_id)}/")

    def delete_many(self, memory_ids: Sequence[str]) -> list[shapes.BulkItem]:
        """Archive any number of memories, 1,000 in a transaction, and say of each what became of it."""
        results: list[shapes.BulkItem] = []
        for part in in_parts(memory_ids):
            results += (self.request("POST", "memories/bulk-delete/", body={"ids": part}))["results"]
        return results

    def restore(self, memory_id: str) -> shapes.Memory:
        """Bring an archived memory back."""
        return self.request("POST", f"memories/{segment(memory_id)}/restore/")

    def history(self, memory_id: str) -> Iterator[shapes.Change]:
        """What happened to a memory, the latest first."""
        return self._pages(f"memories/{segment(memory_id)}/history/", {"per_page": 100})

    def search(self, query: str, **more: Unpack[shapes.QueryRest]) -> shapes.Answer:
        """Find what helps with a question, best first."""
        return self.request("POST", "memories/query/", body={"query": query, **more})

    def context(self, *, conversation: str | None = None, role: str | None = None) -> shapes.Context:
        """The memory block: text for the top of a prompt."""
        return self.request("GET", "memories/context/", params={"conversation": conversation, "role": role})

    def topics(self) -> list[str]:
        """What memories are about."""
        return (self.request("GET", "memories/topics/"))["topics"]

    def changes(self, after: int = 0, *, wait: int = 0) -> Iterator[shapes.FeedChange]:
        """What happened after a revision, in order, until now. Remember the last ``rev`` to ask again.

        With ``wait`` it ends when nothing happened for so many seconds, at most 25.
        """
        asked: dict[str, Any] = {"per_page": 100, "wait": wait or None}
        while True:
            feed = self.request("GET", "changes/", params={**asked, "after": after})
            for change in feed["results"]:
                yield change
            if not feed["results"]:
                return
            after = feed["next_after"]

    def undo(self, first: int, last: int) -> shapes.Undone:
        """Take back what was done from one revision to another."""
        return self.request("POST", "changes/undo/", body={"first": first, "last": last})

    # --- Conversations ---

    def create_conversation(self, **about: Unpack[shapes.ConversationRequest]) -> shapes.Conversation:
        """Begin a conversation."""
        return self.request("POST", "conversations/", body=about)

    def conversation(self, conversation_id: str) -> shapes.Conversation:
        """A conversation, without its messages."""
        return self.request("GET", f"conversations/{segment(conversation_id)}/")

    def conversations(self) -> Iterator[shapes.Conversation]:
        """The conversations."""
        return self._pages("conversations/", {"per_page": 100})

    def append(self, conversation_id: str, messages: Sequence[shapes.NewMessageRequest]) -> shapes.Messages:
        """Add messages to a conversation. ``refusals`` names what the person said there not to keep."""
        return self.request(
            "POST", f"conversations/{segment(conversation_id)}/messages/", body={"messages": list(messages)}
        )

    def messages(self, conversation_id: str) -> Iterator[shapes.Message]:
        """The messages of a conversation."""
        return self._pages(f"conversations/{segment(conversation_id)}/messages/", {"per_page": 100})

    def turn(self, conversation_id: str, content: str, **more: Unpack[shapes.TurnRest]) -> shapes.Turn:
        """Prepare the next model call: everything that its prompt needs."""
        return self.request(
            "POST", f"conversations/{segment(conversation_id)}/turn/", body={"content": content, **more}
        )

    def reply(self, conversation_id: str, content: str, **more: Unpack[shapes.ReplyRest]) -> Iterator[Event]:
        """Say something to the assistant and follow its answer: ``token`` events have the ``text``, ``done`` is last.

        A stream that breaks is followed where it broke.
        """
        body = {"content": content, **more}
        return self._events(sent("POST", f"conversations/{segment(conversation_id)}/reply/", body=body))

    def updates(self, conversation_id: str, after: str | None = None) -> Iterator[Event]:
        """Follow for 30 seconds what is learned from a conversation, from now on or ``after`` an event."""
        path = f"conversations/{segment(conversation_id)}/updates/"
        return self._events(sent("GET", path, params={"after": after}), path)

    def finish(self, conversation_id: str) -> shapes.Job | shapes.NothingLeft:
        """Have what is left of a conversation summed up and learned from, in the background."""
        return self.request("POST", f"conversations/{segment(conversation_id)}/finish/")

    # --- What else an agent needs ---

    def job(self, job_id: str) -> shapes.Job:
        """How far a job is."""
        return self.request("GET", f"jobs/{segment(job_id)}/")

    def tools(self, format: str | None = None) -> shapes.Tools:
        """The memory tools in the form that a model's provider takes, and guidance for its instructions."""
        return self.request("GET", "tools/", params={"format": format})

    def call_tool(self, name: str, arguments: Any, **said: Unpack[shapes.ToolCallRest]) -> shapes.ToolAnswer:
        """Call a memory tool with the arguments that a model gave."""
        return self.request("POST", f"tools/{segment(name)}/", body={"arguments": arguments, **said})

    # --- Webhooks ---

    def webhooks(self) -> Iterator[shapes.Webhook]:
        """Where changes are sent."""
        return self._pages("webhooks/", {"per_page": 100})

    def create_webhook(self, url: str, *, agent: str | None = None) -> shapes.RegisteredWebhook:
        """Have changes sent to an address; keep the ``secret`` for ``verify``. A person names one of their agents."""
        body = {"url": url} if agent is None else {"url": url, "agent": agent}
        return self.request("POST", "webhooks/", body=body)

    def webhook(self, webhook_id: str) -> shapes.Webhook:
        """A webhook, without its secret."""
        return self.request("GET", f"webhooks/{segment(webhook_id)}/")

    def remove_webhook(self, webhook_id: str) -> None:
        """Send nothing to it any more."""
        self.request("DELETE", f"webhooks/{segment(webhook_id)}/")

    def rotate_secret(self, webhook_id: str) -> shapes.RegisteredWebhook:
        """Give a webhook another ``secret``; for a day messages are signed by the one before too."""
        return self.request("POST", f"webhooks/{segment(webhook_id)}/rotate/")

    def resume_webhook(self, webhook_id: str) -> shapes.Webhook:
        """Switch a webhook on again; what happened meanwhile is sent."""
        return self.request("POST", f"webhooks/{segment(webhook_id)}/resume/")

    def deliveries(self, webhook_id: str, state: str | None = "dead") -> Iterator[shapes.Delivery]:
        """What was given up, the latest first; ``waiting`` or ``sent`` instead, or all with None."""
        return self._pages(f"webhooks/{segment(webhook_id)}/deliveries/", {"per_page": 100, "state": state})

    def resend(self, webhook_id: str, delivery_id: str) -> shapes.Delivery:
        """Try a delivery anew that was given up."""
        path = f"webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/resend/"
        return self.request("POST", path)

    # --- Commands and states ---

    def command(self, text: str) -> shapes.CommandAnswer:
        """Carry out what somebody typed, such as ``/memory list``."""
        return self.request("POST", "command/", body={"text": text})

    def preferences(self) -> shapes.Preferences:
        """What the person prefers."""
        return self.request("GET", "me/preferences/")

    def threads(self) -> Iterator[shapes.Thread]:
        """The threads whose states are kept."""
        return self._pages("checkpoints/", {"per_page": 100})

    def load_state(self, thread: str) -> shapes.State:
        """The newest state of a thread."""
        return self.request("GET", f"checkpoints/{segment(thread)}/")

    def save_state(self, thread: str, state: Any, *, version: int | None = None) -> shapes.SavedState:
        """Save the state of a thread. Raises Conflict when ``version``, the one that was loaded, is not the newest."""
        body = {"state": state} if version is None else {"state": state, "version": version}
        return self.request("PUT", f"checkpoints/{segment(thread)}/", body=body)

    def delete_thread(self, thread: str) -> None:
        """Delete all states of a thread, those of graphs too."""
        self.request("DELETE", f"checkpoints/{segment(thread)}/")
