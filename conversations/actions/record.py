"""Changes to conversations and messages: create, append, close, delete, and pin the revision of the prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Legacy
from accounts.policy import must_write, sees_everything
from accounts.policy.names import check_labels, labels_repeat_rejected
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, Gated, NotFound, Refused
from journal.queue import enqueue
from journal.verdicts import compares_unlocked
from language.reading.corrections import puts_right, tells_change
from language.reading.second_tries import has_correction
from language.tokens import count_tokens
from retrieval.text import prepare

from .. import policy
from ..echoes import repeats_withheld
from ..models import Conversation, ConversationChunk, Message, Withheld
from .arriving import withhold_repeated
from .refusals import LIVE_WINDOW, find_refusals, plan_refusals, refusals_apply
from .withholding import withhold_in_replies


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to append. ``at`` is when it was said, by default now."""

    role: str
    content: str
    speaker: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """What a conversation's prompts are pinned to: the time of the facts block, the revision of the memory block.

    The digests are of the two blocks' texts, to detect changes; empty until the blocks were shown.
    """

    at: datetime
    rev: int
    block_digest: str = ""
    facts_digest: str = ""


def conversation_create(
    principal: Principal,
    *,
    legacy_id: UUID | None = None,
    title: str = "",
    channel: str = "",
    private: bool = False,
    external_id: str = "",
    brought_by_id: UUID | None = None,
) -> Conversation:
    """Create a conversation, about a legacy if one is given. ``brought_by_id`` is the import that creates it.

    A title that needs the person's consent is omitted. One that repeats withheld words is refused, but not to an agent
    that does not see everything: that would tell it of them. No prompt has titles.

    If the ``external_id`` (unique per person, agent and channel) exists, its conversation is returned, so that an
    import can be repeated. Raises NotFound when the person is no member of the legacy, Conflict (409,
    ``external_id_taken``) when the existing conversation has another legacy or privacy, NotAllowed without the scope,
    Gated (422) for a title that the gates reject or that repeats withheld words (``rejected_before``), and for a
    channel or external id that ``check_labels`` rejects.
    """
    user_id = must_write(principal)
    policy.check_title(title, own_word=principal.speaks_as_person)
    title = policy.consented_title(principal, title)
    check_labels(principal, channel, external_id)
    if not principal.speaks_as_person and sees_everything(principal) and repeats_withheld(user_id, [title]):
        raise Gated(_("The title says what the person had taken out of the record."), code="rejected_before")
    with ledger_write(principal.actor, user_id) as write:
        if legacy_id and not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists():
            raise NotFound("There is no such legacy.")
        known = None
        if external_id:
            own = Conversation.objects.visible_to(principal).filter(channel=channel, external_id=external_id)
            agents = Q(agent_id=principal.agent_id) if principal.agent_id else Q(agent__isnull=True)
            known = own.filter(agents).first()
        if known and (known.legacy_id, known.private) != (legacy_id, private):
            raise Conflict(_("This external id stands for another conversation."), code="external_id_taken")
        conversation = known or Conversation.objects.create(
            user_id=user_id,
            legacy_id=legacy_id,
            agent_id=principal.agent_id,
            title=title,
            channel=channel,
            private=private,
            external_id=external_id,
            brought_by_id=brought_by_id,
            seen_rev=write.ledgers[user_id].rev,
        )
        write.result("conversation", conversation.pk, status_code=201)
    return conversation


@compares_unlocked
def messages_append(
    principal: Principal,
    conversation_id: UUID,
    messages: Sequence[NewMessage],
    *,
    after: int | None = None,
    follow_up: bool = True,
    in_turn: bool = False,
    brought: bool = False,
    brought_by_id: UUID | None = None,
    read_from: datetime | None = None,
    then: Callable[[list[Message]], None] | None = None,
) -> list[Message]:
    """Append messages in one transaction and return them. Indices stay gapless under concurrent appends.

    Appending reopens a finished conversation; the first message pins it to the present unless a turn already has.
    Refusals in the messages are applied at once, also to the returned rows. In messages by an agent or from a file,
    sentences that the person withheld elsewhere are withheld, too; to an agent that does not see everything this would
    tell that there are such words, so its message stays, off the record, and so does one whose speaker repeats what was
    rejected.

    ``after``: the number of messages that the conversation must still have.
    ``follow_up``: enqueue indexing, summarising and extraction on commit; False when the caller does so.
    ``in_turn``: a turn saves them, so an agent that owns the conversation relays what the person just said.
    ``brought``: they come from a file, so they are nobody's word of now.
    ``brought_by_id``: the import that writes them; counted in ``brought_messages`` if the conversation came with that
    import and holds nothing else.
    ``read_from``: when extraction may read them, set by our own assistant; ``messages_extract_now`` makes it earlier.
    ``then``: called with them in the same transaction, so that what goes with them is stored or fails with them. A
    caller must open none around this call: what the messages refuse is judged by networks before it.

    Raises Refused (400) for a bad message, Gated (422) for a speaker's name, NotFound, NotAllowed, Conflict (409,
    ``conversation_moved``).
    """
    user_id = must_write(principal)
    check_messages(messages)
    if not brought:
        check_labels(principal, *dict.fromkeys(message.speaker for message in messages))
    now = timezone.now()
    new = [_new_row(user_id, message, principal.language, now) for message in messages]
    by_itself = not brought and sum(row.role == Message.Role.USER for row in new) == 1
    corrects = follow_up and not brought and _has_correction(new, now)
    heard = find_refusals(principal, conversation_id, new, brought=brought)
    # A refusal may reject facts of legacies, so their ledgers are locked too.
    legacies = {legacy_id for each in heard for legacy_id in each.legacies}
    relayed = not brought and not principal.speaks_as_person
    narrowed = relayed and not sees_everything(principal)
    off_record = narrowed and labels_repeat_rejected(user_id, *dict.fromkeys(message.speaker for message in messages))
    together = nullcontext() if then is None else transaction.atomic()
    with plan_refusals(user_id, heard, new), together:
        with ledger_write(principal.actor, user_id, *legacies) as write:
            conversation = _lock(principal, conversation_id)
            if after is not None and conversation.message_count != after:
                raise Conflict(
                    _("The conversation has %(message_count)s messages by now.")
                    % {"message_count": conversation.message_count},
                    code="conversation_moved",
                )
            extracts_each = follow_up and policy.extracts_each(
                principal, conversation, answers=read_from is not None, corrects=corrects
            )
            _schedule_unread(conversation, now, wanted=corrects and extracts_each)
            voice = policy.voice(principal, conversation, in_turn=in_turn) if by_itself else ""
            for index, row in enumerate(new, start=conversation.message_count):
                _set_place(row, conversation, index, memory_off=principal.is_off_record or off_record)
                is_now = row.role == Message.Role.USER and abs(now - row.at) < LIVE_WINDOW
                row.voice = voice if is_now else ""
                row.reading_due = (read_from or now) if extracts_each and row.role == Message.Role.USER else None
                row.unjudged = relayed and row.role != Message.Role.USER
            Message.objects.bulk_create(new)
            _update_conversation(conversation, new, now, brought_by_id, rev=write.ledgers[user_id].rev)
            write.count(user_id, turns=len(new), turn_terms=sum(row.search_length for row in new))
            write.result("message", *(row.pk for row in new), status_code=201)
            own = Conversation.objects.filter(user_id=user_id, agent=principal.agent_id) if narrowed else None
            repeats = (brought or relayed) and withhold_repeated(write, user_id, new, own=own)
            if replies := [row.pk for row in new if row.role != Message.Role.USER]:
                withhold_in_replies(write, conversation, replies)
            if heard:
                refusals_apply(write, user_id, heard)
            if heard or repeats:
                _reload_contents(new)
            if follow_up:
                enqueue("conversations.index_messages", conversation.pk)
            if follow_up and conversation.unsummarized > settings.SUMMARY_THRESHOLD_MESSAGES:
                enqueue("assistant.maybe_summarize", conversation.pk)
            if any(row.reading_due == now for row in new):
                enqueue("assistant.extract_messages", conversation.pk)
        if then is not None:
            then(new)
    return new


def _set_place(row: Message, conversation: Conversation, index: int, *, memory_off: bool) -> None:
    """Set a message's conversation and index, and the columns copied from the conversation."""
    row.conversation, row.index = conversation, index
    row.legacy_id, row.private, row.memory_off = conversation.legacy_id, conversation.private, memory_off


def _update_conversation(
    conversation: Conversation, new: Sequence[Message], now: datetime, brought_by_id: UUID | None, *, rev: int
) -> None:
    """Update the conversation's counts and times for new messages, reopen it, and pin it with its first message."""
    if brought_by_id is not None and brought_by_id == conversation.brought_by_id and conversation.is_as_brought:
        conversation.brought_messages += len(new)
    conversation.message_count += len(new)
    conversation.last_message_at, conversation.finished_at = now, None
    if conversation.block_at is None and brought_by_id is None:
        conversation.block_at, conversation.block_rev = now, rev
    if any(row.role == Message.Role.ASSISTANT for row in new):
        # The reply has seen the changes that its prompt reported; later changes are reported by the next prompt.
        conversation.seen_rev = max(conversation.seen_rev, conversation.told_rev)
    counts = ["message_count", "brought_messages", "last_message_at", "finished_at"]
    conversation.save(update_fields=[*counts, "block_at", "block_rev", "seen_rev"])


def _has_correction(new: Sequence[Message], now: datetime) -> bool:
    """Whether a message that the person has just sent corrects something, or may tell that it has changed."""
    said = (row for row in new if row.role == Message.Role.USER and abs(now - row.at) < LIVE_WINDOW)
    return any(puts_right(row.content) or tells_change(row.content) or has_correction(row.content) for row in said)


def _schedule_unread(conversation: Conversation, now: datetime, *, wanted: bool) -> None:
    """If ``wanted``, schedule extraction of the person's unread messages before a correction: one may be the error.

    Otherwise a later batch would learn the wrong statement after its correction. A batch that is running now skips
    these messages, because it checks the marks again when it writes.
    """
    waiting = Message.objects.filter(
        conversation=conversation,
        index__gte=conversation.summarized_upto,
        role=Message.Role.USER,
        processed=False,
        declined=False,
        held_until__isnull=True,
        reading_due__isnull=True,
    )
    if wanted:
        waiting.update(reading_due=now)


def _new_row(user_id: UUID, message: NewMessage, language: str, now: datetime) -> Message:
    """Build a message's row, still without conversation and index."""
    at = message.at or now
    prepared = prepare(message.content, language, heading=policy.heading(message.speaker, at))
    return Message(
        user_id=user_id,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        tokens=count_tokens(message.content),
        at=at,
        created_at=now,  # The same for all messages of one call, which identifies them as one batch.
        search_text=prepared.text,
        search_config=prepared.config,
        search_length=prepared.length,
    )


def _reload_contents(rows: Sequence[Message]) -> None:
    left = dict(Message.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", "content"))
    for row in rows:
        row.content = left[row.pk]


def messages_extract_now(conversation_id: UUID, index: int) -> bool:
    """Start the extraction of a message whose own reading is scheduled. Returns whether one was scheduled.

    Takes no revision: it is no change of the person's.
    """
    now = timezone.now()
    waiting = Message.objects.filter(conversation_id=conversation_id, index=index, reading_due__isnull=False)
    waits = waiting.filter(Q(held_until__isnull=True) | Q(reading_due__lte=now)).update(reading_due=now) > 0
    if waits:
        enqueue("assistant.extract_messages", conversation_id)
    return waits


def conversation_pin(principal: Principal, conversation: Conversation, pin: Pin) -> None:
    """Store a conversation's pin. Of two concurrent turns the later pin wins.

    Takes no revision: it is no change of the person's. The caller checks ``policy.may_pin``.
    """
    values = asdict(pin)
    pinned = {"at": "block_at", "rev": "block_rev"}
    columns = {pinned.get(name, name): value for name, value in values.items()}
    if any(getattr(conversation, column) != value for column, value in columns.items()):
        own = Conversation.objects.visible_to(principal).filter(pk=conversation.pk)
        own.filter(Q(block_at__isnull=True) | Q(block_at__lte=pin.at)).update(**columns)


def conversation_set_told_rev(principal: Principal, conversation: Conversation, rev: int) -> None:
    """Store the revision up to which changes were reported to a conversation. It takes effect when a reply is saved.

    Takes no revision: it is no change of the person's. Of two concurrent calls the later revision wins.
    """
    if conversation.told_rev < rev:
        own = Conversation.objects.visible_to(principal).filter(pk=conversation.pk)
        own.filter(told_rev__lt=rev).update(told_rev=rev)


def messages_mark(conversation: Conversation, indices: Sequence[int], **marks: bool | datetime | None) -> None:
    """Set columns that control what may be learned from messages. Runs in a transaction that holds the ledger.

    ``marks``: ``processed``, ``declined``, ``held_until``, ``reading_due``.
    """
    Message.objects.filter(conversation=conversation, index__in=indices).update(**marks)


def check_messages(messages: Sequence[NewMessage]) -> None:
    """Raise Refused (400) unless every message can be stored."""
    if not messages:
        raise Refused(_("Send at least one message."), code="empty")
    if len(messages) > settings.MESSAGES_PER_REQUEST:
        raise Refused(
            _("Send at most %(messages_per_request)s messages at once.")
            % {"messages_per_request": settings.MESSAGES_PER_REQUEST},
            code="too_many",
        )
    for number, message in enumerate(messages):
        try:
            policy.check_message(message.role, message.content, message.speaker, message.at)
        except Refused as error:
            raise Refused(
                _("Message %(number)s: %(detail)s") % {"number": number, "detail": error.detail}, code=error.code
            ) from error


def _lock(principal: Principal, conversation_id: UUID) -> Conversation:
    """Lock a conversation that the principal may see, always after the owner's ledger. Raises NotFound."""
    return Conversation.objects.visible_to(principal).select_for_update().must_find(conversation_id)


def conversation_close(
    principal: Principal, conversation_id: UUID, *, idle_before: datetime | None = None, follow_up: bool = True
) -> bool:
    """Mark a conversation as finished and enqueue its summary. Returns whether messages are left to summarise.

    With ``idle_before`` only if its last message is not newer. ``follow_up`` is False for a caller that summarises it
    itself. Raises NotFound, NotAllowed.
    """
    user_id = must_write(principal)
    with ledger_write(principal.actor, user_id) as write:
        conversation = _lock(principal, conversation_id)
        if idle_before and conversation.last_message_at and conversation.last_message_at > idle_before:
            return False
        if conversation.finished_at is None:
            conversation.finished_at = timezone.now()
            conversation.save(update_fields=["finished_at"])
        left = conversation.unsummarized > 0
        write.result("conversation", conversation.pk, status_code=202 if left else 200)
        if left and follow_up:
            enqueue("assistant.maybe_summarize", conversation.pk)
    return left


def conversation_remove(write: LedgerWrite, conversation: Conversation) -> None:
    """Delete a conversation with its messages and summaries. Runs in a transaction that holds its person's ledger.

    Callers first handle what was learned from it. Of withheld messages only the digests are kept, so that no import
    brings the words back.
    """

    Withheld.objects.filter(conversation=conversation).passages().update(text="")
    Withheld.objects.filter(conversation=conversation).exclude(object_type="message").delete()
    terms = Coalesce(Sum("search_length"), 0)
    said = Message.objects.filter(conversation=conversation).aggregate(terms=terms, rows=Count("pk"))
    chunks = ConversationChunk.objects.filter(conversation=conversation).aggregate(terms=terms, rows=Count("pk"))
    write.count(
        conversation.user_id,
        turns=-said["rows"],
        turn_terms=-said["terms"],
        chunks=-chunks["rows"],
        chunk_terms=-chunks["terms"],
    )
    write.change(conversation.user_id, "DELETE", "conversation", conversation.pk)
    conversation.delete()
