"""The import formats: registry, detection, and the survey (validation) of a whole file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Protocol

import orjson
from django.utils.translation import gettext_noop

from . import chatgpt, claude, jsonl
from .datasets import parse_beam, parse_locomo
from .records import ImportFileError, Node, ParsedConversation, ParsedFile, decode
from .sources import OWN_MANIFEST, ArchiveMember
from .streams import BOM, Readable, read_lines, read_list

NOTES = 50
_PEEKED_BYTES = 65_536


class Read(Protocol):
    """A reader: yields the conversations of files in order, without the first ``skip``."""

    def __call__(self, members: Sequence[ArchiveMember], skip: int = 0) -> Iterator[ParsedConversation]:
        """Yield the conversations. Raises ImportFileError."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """An import format. ``name`` is the channel of its conversations; ``read`` can be called repeatedly."""

    name: str
    title: str
    read: Read


def _each(conversation: Callable[[Node], ParsedConversation]) -> Read:
    """Return a reader for JSON lists of conversations."""

    def read_all(members: Sequence[ArchiveMember], skip: int = 0) -> Iterator[ParsedConversation]:
        number = 0
        for member in members:
            with member.open() as stream:
                for item in read_list(stream, member.name):
                    number += 1
                    if number > skip:
                        yield conversation(Node(item.parsed(), item.place))

    return read_all


def _whole(parse: Callable[[str], ParsedFile]) -> Read:
    """Return a reader for datasets, each of which is one document."""

    def read_all(members: Sequence[ArchiveMember], skip: int = 0) -> Iterator[ParsedConversation]:
        for member in members:
            with member.open() as stream:
                parsed = parse(decode(stream.read(), member.name))
            yield from parsed.conversations[skip:]

    return read_all


def _no_conversations(members: Sequence[ArchiveMember], skip: int = 0) -> Iterator[ParsedConversation]:
    raise ImportFileError(members[0].name, "holds rows, not conversations: import it on the page or over REST")


def _lines(members: Sequence[ArchiveMember], skip: int = 0) -> Iterator[ParsedConversation]:
    return islice(jsonl.read_jsonl(members), skip, None)


KEEPSAKE = "keepsake"
"""Keepsake's own export of everything about a person; not a list of conversations. ``assistant.takeout`` reads it."""
MEM0 = "mem0"
"""An export of mem0's memories; not a list of conversations. ``interop`` reads it."""
_OF_MEMORIES = re.compile(rb'\{\s*"(memories|results)"\s*:')
FORMS = {
    form.name: form
    for form in (
        Form(chatgpt.CHANNEL, gettext_noop("ChatGPT export"), _each(chatgpt.chatgpt_conversation)),
        Form(claude.CHANNEL, gettext_noop("Claude export"), _each(claude.claude_conversation)),
        Form(jsonl.CHANNEL, "JSON Lines", _lines),
        Form(KEEPSAKE, gettext_noop("Keepsake export"), _no_conversations),
        Form(MEM0, gettext_noop("mem0 export"), _no_conversations),
        Form("locomo", "LoCoMo dataset", _whole(parse_locomo)),
        Form("beam", "BEAM dataset", _whole(parse_beam)),
    )
}
EXPORTS = (chatgpt.CHANNEL, claude.CHANNEL, jsonl.CHANNEL, KEEPSAKE, MEM0)
"""Formats of people's own exports. The others are datasets, for operators of a deployment."""


def get_form(name: str, *, user_speaker: str = "") -> Form:
    """Return a format by name. ``user_speaker`` is for LoCoMo only: the speaker who is the user."""
    form = FORMS[name]
    return (
        Form(form.name, form.title, _whole(partial(parse_locomo, user_speaker=user_speaker))) if user_speaker else form
    )


def detect_form(members: Sequence[ArchiveMember]) -> Form:
    """Detect the format of files from the beginning of the first. Raises ImportFileError when it is unknown."""
    member = members[0]
    if member.name == OWN_MANIFEST:
        return FORMS[KEEPSAKE]
    with member.open() as stream:
        beginning = stream.read(_PEEKED_BYTES).removeprefix(BOM).lstrip()
    with member.open() as stream:
        if beginning.startswith(b"["):
            return _of_list(stream, member.name)
        if beginning.startswith(b"{"):
            return _of_object(stream, beginning)
    raise ImportFileError("", "is neither a zip archive nor JSON, so it is not an export that Keepsake knows")


def _of_list(stream: Readable, name: str) -> Form:
    first = next(read_list(stream, name), None)
    if first is None:
        raise ImportFileError("", "the file holds no conversation")
    item = first.parsed()
    for mark, form in ((chatgpt.MARK, chatgpt.CHANNEL), (claude.MARK, claude.CHANNEL), ("sample_id", "locomo")):
        if mark in item:
            return FORMS[form]
    if {"id", "memory"} <= item.keys():
        return FORMS[MEM0]
    raise ImportFileError(first.place, "has no form that Keepsake knows: it has neither mapping nor chat_messages")


def _of_object(stream: Readable, beginning: bytes) -> Form:
    if b'"chats"' in beginning and b'"conversation"' not in beginning.partition(b"\n")[0]:
        return FORMS["beam"]
    if _OF_MEMORIES.match(beginning):
        return FORMS[MEM0]
    number, line = next(read_lines(stream))
    try:
        is_message = {"conversation", "role"} <= orjson.loads(line).keys()
    except (orjson.JSONDecodeError, AttributeError):
        is_message = False
    if is_message:
        return FORMS[jsonl.CHANNEL]
    raise ImportFileError(f"line {number}", "has no form that Keepsake knows: neither an export nor a message a line")


@dataclass
class Survey:
    """Counts of what a file holds. ``skipped`` counts messages and whole conversations by reason."""

    conversations: int = 0
    messages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    more_notes: int = 0

    def note(self, text: str) -> None:
        """Add a note for the person; after the first 50 they are only counted."""
        if len(self.notes) < NOTES:
            self.notes.append(text)
        else:
            self.more_notes += 1


def iter_importable(
    conversations: Iterator[ParsedConversation], survey: Survey | None = None, *, after: int = 0
) -> Iterator[tuple[int, ParsedConversation]]:
    """Yield the conversations to import with their numbers in the file; skip repeated and empty ones.

    All are counted in ``survey``. The numbers begin at ``after + 1``: the reader has skipped ``after`` conversations.
    Raises ImportFileError when the reader does.
    """
    survey = survey or Survey()
    seen: set[str] = set()
    for number, conversation in enumerate(conversations, start=after + 1):
        survey.skipped.update(conversation.skipped)
        for note in conversation.notes:
            survey.note(note)
        if conversation.external_id in seen:
            survey.skipped["repeated"] += 1
            survey.note(f"{conversation.place}: is in the file twice; the first one counts")
            continue
        seen.add(conversation.external_id)
        if not conversation.messages:
            survey.skipped["empty_conversations"] += 1
            continue
        survey.conversations += 1
        survey.messages += len(conversation.messages)
        yield number, conversation


def survey_file(form: Form, members: Sequence[ArchiveMember], progress: Callable[[Survey], object]) -> Survey:
    """Read the whole file and count what it holds. ``progress`` is called after each conversation.

    Raises ImportFileError with the place of the first error, or when there is nothing to import.
    """
    survey = Survey()
    for _ in iter_importable(form.read(members), survey):
        progress(survey)
    if not survey.conversations:
        raise ImportFileError("", "the file holds no conversation with a message")
    return survey
