"""Small exports in the forms of ChatGPT and Claude, written by hand from what docs/imports.md says of them."""

import io
import json
import zipfile

STARTED = 1_714_550_400.0  # 1 May 2024, 8:00 UTC
FIRST_PARENT = "00000000-0000-4000-8000-000000000000"


def chatgpt_message(role, *parts, kind="text", at=STARTED, **members):
    """A message as a node of the tree holds it."""
    return {
        "id": "m",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": {"content_type": kind, "parts": list(parts)},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        "channel": None,
        **members,
    }


def chatgpt_tree(*messages):
    """A mapping in which each message follows the one before it, after an empty root. Nodes are n0, n1, …"""
    nodes = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for number, message in enumerate(messages):
        parent = f"n{number - 1}" if number else "root"
        nodes[f"n{number}"] = {"id": f"n{number}", "message": message, "parent": parent, "children": []}
    return nodes


def chatgpt_conversation(*messages, name="chat-1", **members):
    """A conversation that goes straight on, with the last message shown."""
    return {
        "title": "The garden",
        "create_time": STARTED,
        "update_time": STARTED + 60,
        "mapping": chatgpt_tree(*messages),
        "moderation_results": [],
        "current_node": f"n{len(messages) - 1}",
        "conversation_id": name,
        "id": name,
        "is_archived": False,
        "default_model_slug": "gpt-4o",
        **members,
    }


def chatgpt_talk(*texts, name="chat-1", **members):
    """A conversation of texts, the user's first, a minute apart."""
    messages = [
        chatgpt_message(("user", "assistant")[number % 2], text, at=STARTED + 60 * number)
        for number, text in enumerate(texts)
    ]
    return chatgpt_conversation(*messages, name=name, **members)


def claude_message(name, sender, *texts, parent=FIRST_PARENT, minute=0, **members):
    """A message with a block for each text, and the older member that repeats them."""
    said = f"2024-05-01T08:{minute:02}:00.000000Z"
    return {
        "uuid": name,
        "text": "\n".join(texts),
        "content": [{"type": "text", "text": text, "start_timestamp": said, "citations": []} for text in texts],
        "sender": sender,
        "created_at": said,
        "updated_at": said,
        "attachments": [],
        "files": [],
        "parent_message_uuid": parent,
        **members,
    }


def claude_conversation(*messages, name="talk-1", **members):
    """A conversation of Claude's."""
    return {
        "uuid": name,
        "name": "The boat",
        "summary": "",
        "created_at": "2024-05-01T07:59:00.000000Z",
        "updated_at": "2024-05-01T09:00:00.000000Z",
        "account": {"uuid": "account-1"},
        "chat_messages": list(messages),
        **members,
    }


def claude_talk(*texts, name="talk-1", **members):
    """A conversation of texts, the person's first, each an answer to the one before it."""
    messages = [
        claude_message(
            f"m{number}",
            ("human", "assistant")[number % 2],
            text,
            parent=f"m{number - 1}" if number else FIRST_PARENT,
            minute=number,
        )
        for number, text in enumerate(texts)
    ]
    return claude_conversation(*messages, name=name, **members)


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    """An archive of files; what is no bytes becomes JSON."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return packed.getvalue()


def chatgpt_zip(*conversations, **more):
    """An export of ChatGPT's as it comes, with what else is in it."""
    beside = {"chat.html": b"<html></html>", "user.json": {"email": "x"}, "file-abc-photo.png": b"\x89PNG"}
    return zipped({"conversations.json": list(conversations), **beside, **more})
