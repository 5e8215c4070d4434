"""Parser of ChatGPT exports: each conversation is a tree of messages, in one JSON list or several."""

from __future__ import annotations

from typing import Any

from .gathering import Gathering, active_path, unix_time
from .records import Node, ParsedConversation

CHANNEL = "chatgpt"
MARK = "mapping"
# The reason to skip a message, by its content type.
_KINDS = {
    "user_editable_context": "instructions",
    "model_editable_context": "instructions",
    "thoughts": "reasoning",
    "reasoning_recap": "reasoning",
    "code": "tool",
    "execution_output": "tool",
    "computer_output": "tool",
    "citable_code_output": "tool",
    "tether_quote": "tool",
    "tether_browsing_code": "tool",
    "tether_browsing_display": "tool",
    "sonic_webpage": "tool",
    "super_widget": "tool",
    "system_error": "tool",
    "system_message": "system",
}
_SPOKEN = frozenset({"text", "multimodal_text", "audio_transcription", ""})
_ASSETS = {
    "image_asset_pointer": "image",
    "video_container_asset_pointer": "video",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
}


def chatgpt_conversation(conversation: Node) -> ParsedConversation:
    """Parse one conversation, following the branch that was shown last. Raises ImportFileError."""
    nodes = _nodes(conversation)
    leaf = conversation["current_node"].as_text_or_nothing()
    if leaf not in nodes:
        leaf = _latest_leaf(nodes, conversation)
    path = active_path(leaf, lambda at: nodes[at]["parent"], nodes.__contains__, conversation)
    gathering = Gathering(conversation, unix_time(conversation["create_time"]))
    for key in path:
        _take(nodes[key]["message"], gathering)
    elsewhere = (nodes[key]["message"] for key in nodes.keys() - set(path))
    gathering.skip("branches", sum(_is_said(message) for message in elsewhere))
    # Old exports have one of the two keys, newer ones both with the same value.
    own_id = conversation["conversation_id" if conversation["conversation_id"].value else "id"]
    return gathering.finished(own_id, conversation["title"])


def _nodes(conversation: Node) -> dict[str, Node]:
    """Return the tree's nodes by id, without deleted ones, which are null or missing."""
    mapping = conversation["mapping"]
    if mapping.value is None:
        mapping.fail("is missing")
    return {key: mapping[key] for key, value in mapping.as_object().items() if value is not None}


def _latest_leaf(nodes: dict[str, Node], conversation: Node) -> str:
    """Return the id of the latest leaf, for a conversation that does not name its current one; '' without nodes."""
    parents = {node["parent"].as_text_or_nothing() for node in nodes.values()}
    leaves = [key for key in nodes if key not in parents]
    if nodes and not leaves:
        conversation.fail("its messages follow each other in a circle")
    times = {key: unix_time(nodes[key]["message"].get("create_time")) for key in leaves}
    # Among leaves without a time the last one in the file wins.
    order = sorted(enumerate(leaves), key=lambda each: (at.timestamp() if (at := times[each[1]]) else 0.0, each[0]))
    return order[-1][1] if order else ""


def _is_said(message: Node) -> bool:
    return not _why_not(message) and message.value is not None


def _why_not(message: Node) -> str:
    """Return the reason to skip a message, or '' for one of the person or the assistant."""
    kind = message.get("content").get("content_type").as_text_or_nothing()
    if kind in _KINDS:
        return _KINDS[kind]
    if message.get("metadata").get("is_visually_hidden_from_conversation").value is True:
        return "hidden"
    role = message.get("author").get("role").as_text_or_nothing()
    if role in {"system", "tool"}:
        return role
    if role not in {"user", "assistant"} or kind not in _SPOKEN:
        return "unknown"
    if role == "assistant" and message["recipient"].as_text_or_nothing() not in {"", "all"}:
        return "tool"  # Addressed to a tool: a search, a program, a document for the canvas.
    return "reasoning" if message["channel"].as_text_or_nothing() == "analysis" else ""


def _take(message: Node, gathering: Gathering) -> None:
    if message.value is None:
        return
    if reason := _why_not(message):
        # Every conversation begins with an empty system message, which is not counted.
        gathering.skip(reason, int(reason != "system" or bool(_texts(message["content"]))))
        return
    texts = _texts(message["content"])
    role = message["author"]["role"].as_text()
    gathering.add(message, role, texts, _files(message, texts), unix_time(message["create_time"]))


def _texts(content: Node) -> list[str]:
    """Return the written texts and the transcripts of speech."""
    told = [content.get("text").as_text_or_nothing()] if content.get("parts").value is None else []
    for part in content.get("parts").as_items_or_nothing():
        if isinstance(part.value, str):
            told.append(part.value)
        elif isinstance(part.value, dict) and part["content_type"].value not in _ASSETS:
            told.append(part["text"].as_text_or_nothing())
    return [text for text in told if text.strip()]


def _files(message: Node, texts: list[str]) -> list[str]:
    """Return the names of a message's attachments, and the kinds of its other media."""
    attachments = [node for node in message["metadata"].get("attachments").as_items_or_nothing() if node.value]
    names = [node["name"].as_text_or_nothing() for node in attachments]
    known = [str(node["id"].value) for node in attachments if node["id"].value]
    for part in message["content"].get("parts").as_items_or_nothing():
        kind: Any = part.value.get("content_type") if isinstance(part.value, dict) else None
        if kind not in _ASSETS:
            continue
        pointer = part["asset_pointer"].as_text_or_nothing()
        # Audio with a transcript is not listed, nor is media that is among the attachments already.
        if (_ASSETS[kind] != "audio" or not texts) and not any(each in pointer for each in known):
            names.append(_ASSETS[kind])
    return names
