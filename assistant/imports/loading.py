"""Stores parsed conversations, after comparing them with existing ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.policy import must_write
from accounts.policy.names import labels_repeat_rejected
from accounts.principals import Principal
from conversations.actions import NewMessage, conversation_create, messages_append
from conversations.echoes import repeats_withheld
from conversations.imports.records import ParsedConversation, ParsedMessage
from conversations.models import Conversation, Message, Withheld
from conversations.policy import digests, passing_title

APPEND_BATCH = 100


@dataclass(frozen=True, slots=True)
class Step:
    """The plan for one conversation: its messages from number ``stored`` on are missing.

    With an ``objection`` (a reason) it is skipped.
    """

    parsed: ParsedConversation
    conversation_id: UUID | None = None
    stored: int = 0
    objection: str = ""

    @property
    def missing(self) -> int:
        """The number of messages to append."""
        return 0 if self.objection else len(self.parsed.messages) - self.stored


def plan_step(principal: Principal, parsed: ParsedConversation, *, channel: str, legacy_id: UUID | None) -> Step:
    """Compare a parsed conversation with the stored one.

    A completely imported conversation is complete, even if messages were appended since.
    """
    conversations = Conversation.objects.visible_to(principal)
    conversation = conversations.filter(channel=channel, external_id=parsed.external_id).first()
    if conversation is None:
        return Step(parsed)
    if conversation.legacy_id != legacy_id:
        return Step(parsed, conversation.pk, objection="it was imported with another legacy, or with none")
    rows = (
        Message.objects.visible_to(principal)
        .filter(conversation=conversation)
        .order_by("index")
        .values_list("pk", "role", "speaker", "content", "at")[: len(parsed.messages)]
    )
    passages = Withheld.objects.filter(conversation=conversation).passages()
    withheld = {pk: (digest, by) for pk, digest, by in passages.values_list("message_id", "digest", "keyed_by")}
    stored = 0
    for stored, (row, message) in enumerate(zip(rows.iterator(), parsed.messages, strict=False), start=1):
        pk, role, speaker, content, at = row
        # Of a message with withheld words only the digest of the original is left to compare.
        digest, keyed_by = withheld.get(pk, ("", None))
        same = content == message.content or digest in digests(keyed_by or conversation.user_id, message.content)
        # A speaker's name may be missing since the person rejected or erased it.
        same = same and speaker in {"", message.speaker} and (role, at) == (message.role, message.at or at)
        if not same:
            return Step(parsed, conversation.pk, objection=f"its message {stored - 1} differs from the one stored")
    return Step(parsed, conversation.pk, stored)


def _title(principal: Principal, title: str) -> str:
    """Return a title of the file, or '' if a gate refuses it or it contains withheld words."""
    return "" if repeats_withheld(must_write(principal), [title]) else passing_title(title)


def _unnamed(principal: Principal, messages: Sequence[ParsedMessage]) -> set[str]:
    """Return the speakers whose names repeat what the person rejected: their messages are stored without a speaker."""
    user_id, named = must_write(principal), dict.fromkeys(message.speaker for message in messages)
    if not labels_repeat_rejected(user_id, *named):
        return set()
    return {name for name in named if labels_repeat_rejected(user_id, name)}


def append_step(
    principal: Principal, step: Step, *, channel: str, legacy_id: UUID | None, brought_by_id: UUID | None = None
) -> Iterator[int]:
    """Append the missing messages in several transactions, and yield the number of each; speakers as ``_unnamed`` says.

    With ``brought_by_id`` (an import), indexing and summarising are left to the import.

    Raises Conflict (409 ``conversation_moved``) if somebody else appends meanwhile.
    """
    conversation_id = step.conversation_id
    if conversation_id is None:
        conversation_id = conversation_create(
            principal,
            legacy_id=legacy_id,
            title=_title(principal, step.parsed.title),
            channel=channel,
            external_id=step.parsed.external_id,
            brought_by_id=brought_by_id,
        ).pk
    unnamed = _unnamed(principal, step.parsed.messages[step.stored :])
    for start in range(step.stored, len(step.parsed.messages), APPEND_BATCH):
        batch = [
            NewMessage(message.role, message.content, "" if message.speaker in unnamed else message.speaker, message.at)
            for message in step.parsed.messages[start : start + APPEND_BATCH]
        ]
        messages_append(
            principal,
            conversation_id,
            batch,
            after=start,
            follow_up=brought_by_id is None,
            brought=True,
            brought_by_id=brought_by_id,
        )
        yield len(batch)
