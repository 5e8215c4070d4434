"""Brings parsed conversations in, and finds out first what is there already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from accounts.policy import must_write
from accounts.principals import Principal
from conversations.actions import NewMessage, conversation_create, messages_append
from conversations.echoes import says_withheld
from conversations.imports.records import ParsedConversation
from conversations.models import Conversation, Message, Withheld
from conversations.policy import digests, passing_title

APPEND_BATCH = 100


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done about one conversation: its messages from number ``stored`` on are missing.

    With an ``objection`` it is left alone; that is the reason.
    """

    parsed: ParsedConversation
    conversation_id: UUID | None = None
    stored: int = 0
    objection: str = ""

    @property
    def missing(self) -> int:
        """How many messages have to be appended."""
        return 0 if self.objection else len(self.parsed.messages) - self.stored


def plan_step(principal: Principal, parsed: ParsedConversation, *, channel: str, legacy_id: UUID | None) -> Step:
    """Compare a parsed conversation with what is stored of it. Changes nothing.

    One that was appended to after it had been imported whole is complete: what came later is kept.
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
    withheld = dict(Withheld.objects.filter(conversation=conversation).passages().values_list("message_id", "digest"))
    stored = 0
    for stored, (row, message) in enumerate(zip(rows.iterator(), parsed.messages, strict=False), start=1):
        pk, role, speaker, content, at = row
        # Of what the person took out of a message only the digest of the whole is left to compare with.
        same = content == message.content or withheld.get(pk) in digests(conversation.user_id, message.content)
        if not same or (role, speaker, at) != (message.role, message.speaker, message.at or at):
            return Step(parsed, conversation.pk, objection=f"its message {stored - 1} differs from the one stored")
    return Step(parsed, conversation.pk, stored)


def _title(principal: Principal, title: str) -> str:
    """A title that a file brings; none where it does not pass, or says what its person had taken out of the record."""
    return "" if says_withheld(must_write(principal), title) else passing_title(title)


def append_step(
    principal: Principal, step: Step, *, channel: str, legacy_id: UUID | None, brought_by_id: UUID | None = None
) -> Iterator[int]:
    """Append what is missing, a transaction at a time, and yield after each how many messages it brought.

    With ``brought_by_id``, the import that it belongs to, indexing and summarising are left to that.

    Raises Conflict (409, ``conversation_moved``) when somebody else appends to the conversation meanwhile.
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
    for start in range(step.stored, len(step.parsed.messages), APPEND_BATCH):
        batch = [
            NewMessage(message.role, message.content, message.speaker, message.at)
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
