"""Parser of Claude exports: each conversation is a list of messages that name their parent."""

from __future__ import annotations

from datetime import UTC, datetime

from .gathering import Gathering, active_path, iso_time
from .records import Node, ParsedConversation

CHANNEL = "claude"
MARK = "chat_messages"
_ROLES = {"human": "user", "assistant": "assistant"}
_SPOKEN = frozenset({"text", "voice_note"})
_REASONING = frozenset({"thinking", "redacted_thinking"})
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def claude_conversation(conversation: Node) -> ParsedConversation:
    """Parse one conversation, following the branch that was shown last. Raises ImportFileError."""
    messages = [node for node in conversation["chat_messages"].as_items() if node.value is not None]
    gathering = Gathering(conversation, iso_time(conversation["created_at"]))
    path = _path(messages, conversation)
    for message in path:
        _take(message, gathering)
    taken = {message.path for message in path}
    gathering.skip("branches", sum(message.path not in taken and _is_said(message) for message in messages))
    return gathering.finished(conversation["uuid"], conversation["name"])


def _path(messages: list[Node], conversation: Node) -> list[Node]:
    """Return the messages of the current branch, each after its parent.

    In older exports, which name no parent, it is the message before. A message whose parent is missing, as the first
    one's is, begins the conversation.
    """
    by_id: dict[str, Node] = {}
    parents: dict[str, Node] = {}
    before = ""
    for number, message in enumerate(messages):
        own_id = message["uuid"].as_text_or_nothing() or f"#{number}"
        if own_id in by_id:
            message["uuid"].fail("is there twice")
        parent = message["parent_message_uuid"]
        by_id[own_id] = message
        parents[own_id] = Node(before, parent.path) if parent.value is None else parent
        before = own_id
    leaf = conversation["current_leaf_message_uuid"].as_text_or_nothing()
    if leaf not in by_id:
        leaf = _latest_leaf(by_id, parents, conversation)
    path = active_path(leaf, parents.__getitem__, by_id.__contains__, conversation)
    return [by_id[own_id] for own_id in path]


def _latest_leaf(by_id: dict[str, Node], parents: dict[str, Node], conversation: Node) -> str:
    answered = {parent.as_text_or_nothing() for parent in parents.values()}
    leaves = [own_id for own_id in by_id if own_id not in answered]
    if by_id and not leaves:
        conversation.fail("its messages follow each other in a circle")
    times = {own_id: iso_time(by_id[own_id]["created_at"]) or _LONG_AGO for own_id in leaves}
    order = sorted(enumerate(leaves), key=lambda each: (times[each[1]], each[0]))
    return order[-1][1] if order else ""


def _is_said(message: Node) -> bool:
    return message["sender"].value in _ROLES


def _take(message: Node, gathering: Gathering) -> None:
    sender = message["sender"].as_text()
    if sender not in _ROLES:
        gathering.skip("system" if sender == "system" else "unknown")
        return
    texts = []
    blocks = message["content"].as_items_or_nothing()
    for block in blocks:
        kind = block["type"].as_text_or_nothing()
        if kind in _SPOKEN:
            texts.append(block["text"].as_text_or_nothing())
        else:
            gathering.skip("reasoning" if kind in _REASONING else "tool" if kind.startswith("tool_") else "unknown")
    if not blocks:
        # Read only without blocks: newer exports repeat them here, with a placeholder for each that is not text.
        texts.append(message["text"].as_text_or_nothing())
    gathering.add(message, _ROLES[sender], texts, _files(message), iso_time(message["created_at"]))


def _files(message: Node) -> list[str]:
    """Return the names of a message's attachments. A file without a name is a long text that was pasted."""
    names = []
    for key in ("attachments", "files"):
        for file in message[key].as_items_or_nothing():
            if file.value is not None:
                names.append(file["file_name"].as_text_or_nothing() or "pasted text")
    return list(dict.fromkeys(names))
