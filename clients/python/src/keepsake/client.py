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
    """A client of Keepsake's REST API for one key, and with a service's key for one ``user``.

    Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Requests that fail temporarily are
    retried up to ``retries`` times if that is safe: every POST carries an Idempotency-Key. Every method raises
    KeepsakeError. ``/api/docs/`` describes the dictionaries that they return.
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
        """Send a request to any path below ``api/v1/`` and return the parsed body.

        ``key`` is the Idempotency-Key of a POST, by default a new one. ``repeatable`` marks another write as
        idempotent. ``user`` is the person that a service acts for in this request.
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
        """Yield the items of all pages of a list."""
        asked: Mapping[str, Any] | None = params
        while asked is not None:
            page = self.request("GET", path, params=asked)
            for each in page["results"]:
                yield each
            asked = following(page)

    def _events(self, request: Sent, again: str = "") -> Iterator[Event]:
        """Yield the events of a stream; if it breaks, resume it at the path ``again`` after the last event."""
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
        """Add a memory; ``outcome`` is the result. Raises Conflict with the ``memory`` that is too similar."""
        return self.request("POST", "memories/", body={"content": content, "category": category, **more})

    def add_many(self, items: Iterable[shapes.NewMemoryRequest]) -> list[shapes.AddedItem]:
        """Add any number of memories, 1,000 per transaction. Returns the outcome of each, in order.

        A rejected item does not affect the others; its ``code`` says why.
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
        """Return a memory with all its versions."""
        return self.request("GET", f"memories/{segment(memory_id)}/")

    def memories(self, **wanted: Unpack[shapes.MemoriesWanted]) -> Iterator[shapes.Memory]:
        """Yield memories, the latest change first unless ``sort_by`` says otherwise."""
        return self._pages("memories/", {"per_page": 100, **wanted})

    def update(self, memory_id: str, content: str, **more: Unpack[shapes.RewordRest]) -> shapes.RewordedMemory:
        """Reword a memory. The result has a ``proposal`` when the change waits for the person."""
        return self.request("PUT", f"memories/{segment(memory_id)}/", body={"content": content, **more})

    def amend(self, memory_id: str, **filing: Unpack[shapes.AmendRequest]) -> shapes.ChangedMemory:
        """Change a memory's category, topics and other attributes."""
        return self.request("PATCH", f"memories/{segment(memory_id)}/", body=filing, repeatable=True)

    def delete(self, memory_id: str) -> shapes.ChangedMemory | None:
        """Archive a memory: it can be restored for 30 days. A result has a ``proposal`` that waits for the person."""
        return self.request("DELETE", f"memories/{segment(memory_id)}/")

    def delete_many(self, memory_ids: Sequence[str]) -> list[shapes.BulkItem]:
        """Archive any number of memories, 1,000 per transaction. Returns the outcome of each."""
        results: list[shapes.BulkItem] = []
        for part in in_parts(memory_ids):
            results += (self.request("POST", "memories/bulk-delete/", body={"ids": part}))["results"]
        return results

    def restore(self, memory_id: str) -> shapes.Memory:
        """Restore an archived memory."""
        return self.request("POST", f"memories/{segment(memory_id)}/restore/")

    def history(self, memory_id: str) -> Iterator[shapes.Change]:
        """Yield the changes of a memory, the latest first."""
        return self._pages(f"memories/{segment(memory_id)}/history/", {"per_page": 100})

    def search(self, query: str, **more: Unpack[shapes.QueryRest]) -> shapes.Answer:
        """Search for what helps with a question, best first."""
        return self.request("POST", "memories/query/", body={"query": query, **more})

    def context(self, *, conversation: str | None = None, role: str | None = None) -> shapes.Context:
        """Return the memory block: text for the top of a prompt."""
        return self.request("GET", "memories/context/", params={"conversation": conversation, "role": role})

    def topics(self) -> list[str]:
        """Return the topics of the memories."""
        return (self.request("GET", "memories/topics/"))["topics"]

    def changes(self, after: int = 0, *, wait: int = 0) -> Iterator[shapes.FeedChange]:
        """Yield the changes after a revision, in order, until now. Store the last ``rev`` to continue later.

        With ``wait`` it ends when there was no change for this many seconds, at most 25.
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
        """Undo the revisions ``first`` to ``last`` (inclusive)."""
        return self.request("POST", "changes/undo/", body={"first": first, "last": last})

    # --- Conversations ---

    def create_conversation(self, **about: Unpack[shapes.ConversationRequest]) -> shapes.Conversation:
        """Create a conversation."""
        return self.request("POST", "conversations/", body=about)

    def conversation(self, conversation_id: str) -> shapes.Conversation:
        """Return a conversation without its messages."""
        return self.request("GET", f"conversations/{segment(conversation_id)}/")

    def conversations(self) -> Iterator[shapes.Conversation]:
        """Yield the conversations."""
        return self._pages("conversations/", {"per_page": 100})

    def append(self, conversation_id: str, messages: Sequence[shapes.NewMessageRequest]) -> shapes.Messages:
        """Append messages to a conversation. ``refusals`` lists messages that ask not to keep something."""
        return self.request(
            "POST", f"conversations/{segment(conversation_id)}/messages/", body={"messages": list(messages)}
        )

    def messages(self, conversation_id: str) -> Iterator[shapes.Message]:
        """Yield the messages of a conversation."""
        return self._pages(f"conversations/{segment(conversation_id)}/messages/", {"per_page": 100})

    def turn(self, conversation_id: str, content: str, **more: Unpack[shapes.TurnRest]) -> shapes.Turn:
        """Return everything that the prompt of the next model call needs."""
        return self.request(
            "POST", f"conversations/{segment(conversation_id)}/turn/", body={"content": content, **more}
        )

    def reply(self, conversation_id: str, content: str, **more: Unpack[shapes.ReplyRest]) -> Iterator[Event]:
        """Send a message to the assistant and stream its reply: ``token`` events have the ``text``, ``done`` is last.

        A stream that breaks is resumed after its last event.
        """
        body = {"content": content, **more}
        return self._events(sent("POST", f"conversations/{segment(conversation_id)}/reply/", body=body))

    def updates(self, conversation_id: str, after: str | None = None) -> Iterator[Event]:
        """Stream for 30 seconds what is learned from a conversation, from now on or ``after`` an event's id."""
        path = f"conversations/{segment(conversation_id)}/updates/"
        return self._events(sent("GET", path, params={"after": after}), path)

    def finish(self, conversation_id: str) -> shapes.Job | shapes.NothingLeft:
        """Summarise and learn from the rest of a conversation in the background."""
        return self.request("POST", f"conversations/{segment(conversation_id)}/finish/")

    # --- What else an agent needs ---

    def job(self, job_id: str) -> shapes.Job:
        """Return a job with its progress."""
        return self.request("GET", f"jobs/{segment(job_id)}/")

    def tools(self, format: str | None = None) -> shapes.Tools:
        """Return the memory tools in a model provider's ``format``, and guidance for the model's instructions."""
        return self.request("GET", "tools/", params={"format": format})

    def call_tool(self, name: str, arguments: Any, **said: Unpack[shapes.ToolCallRest]) -> shapes.ToolAnswer:
        """Call a memory tool with the model's arguments."""
        return self.request("POST", f"tools/{segment(name)}/", body={"arguments": arguments, **said})

    # --- Webhooks ---

    def webhooks(self) -> Iterator[shapes.Webhook]:
        """Yield the webhooks."""
        return self._pages("webhooks/", {"per_page": 100})

    def create_webhook(self, url: str, *, agent: str | None = None) -> shapes.RegisteredWebhook:
        """Register a webhook for changes; keep its ``secret`` for ``verify``. A person names one of their agents."""
        body = {"url": url} if agent is None else {"url": url, "agent": agent}
        return self.request("POST", "webhooks/", body=body)

    def webhook(self, webhook_id: str) -> shapes.Webhook:
        """Return a webhook without its secret."""
        return self.request("GET", f"webhooks/{segment(webhook_id)}/")

    def remove_webhook(self, webhook_id: str) -> None:
        """Delete a webhook."""
        self.request("DELETE", f"webhooks/{segment(webhook_id)}/")

    def rotate_secret(self, webhook_id: str) -> shapes.RegisteredWebhook:
        """Replace a webhook's ``secret``; for a day messages are signed with the old one, too."""
        return self.request("POST", f"webhooks/{segment(webhook_id)}/rotate/")

    def resume_webhook(self, webhook_id: str) -> shapes.Webhook:
        """Enable a webhook again; changes since then are sent."""
        return self.request("POST", f"webhooks/{segment(webhook_id)}/resume/")

    def deliveries(self, webhook_id: str, state: str | None = "dead") -> Iterator[shapes.Delivery]:
        """Yield deliveries in a ``state``, the latest first: ``dead``, ``waiting`` or ``sent``, or all with None."""
        return self._pages(f"webhooks/{segment(webhook_id)}/deliveries/", {"per_page": 100, "state": state})

    def resend(self, webhook_id: str, delivery_id: str) -> shapes.Delivery:
        """Retry a dead delivery."""
        path = f"webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/resend/"
        return self.request("POST", path)

    # --- Commands and states ---

    def command(self, text: str) -> shapes.CommandAnswer:
        """Run a typed command such as ``/memory list``."""
        return self.request("POST", "command/", body={"text": text})

    def preferences(self) -> shapes.Preferences:
        """Return the person's preferences."""
        return self.request("GET", "me/preferences/")

    def threads(self) -> Iterator[shapes.Thread]:
        """Yield the threads with stored states."""
        return self._pages("checkpoints/", {"per_page": 100})

    def load_state(self, thread: str) -> shapes.State:
        """Return the newest state of a thread."""
        return self.request("GET", f"checkpoints/{segment(thread)}/")

    def save_state(self, thread: str, state: Any, *, version: int | None = None) -> shapes.SavedState:
        """Save the state of a thread. Raises Conflict if the loaded ``version`` is no longer the newest."""
        body = {"state": state} if version is None else {"state": state, "version": version}
        return self.request("PUT", f"checkpoints/{segment(thread)}/", body=body)

    def delete_thread(self, thread: str) -> None:
        """Delete all states of a thread, those of graphs too."""
        self.request("DELETE", f"checkpoints/{segment(thread)}/")
