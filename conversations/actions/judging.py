"""Withhold in agents' messages, once they have vectors, what says in other words what a person refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from accounts.principals import sees_everything
from accounts.queries import principal_for_agent, principal_for_job
from accounts.scope import acting_as
from journal.actions import ledger_write
from journal.exceptions import NotFound
from language.gates.passages import is_json, pieces_of
from language.third_person import SHORT_CHARACTERS
from retrieval.text import list_words

from ..echoes import RejectedText, rejected_causes
from ..models import Conversation, Message
from ..passages import MARK, Span
from ..querysets import ConversationQuerySet
from .arriving import Found, keep_off_record, withhold_found
from .withheld_rows import Cause
from .withheld_texts import RedactedTexts

_MOST_JUDGED = 200
"""So many sentences of a message are compared; its words all were when it arrived."""
_FEWEST_WORDS = 2


RetoldSearch = Callable[[UUID, Callable[[], Sequence[str]]], Iterable[tuple[int, RejectedText]]]
_retold_searches: list[RetoldSearch] = []


def register_retold_search(search: RetoldSearch) -> None:
    """Register the search for texts that say in other words what a person does not want kept.

    It is called outside a transaction with the person's id and a function that returns the texts, needed only where
    something was refused. It returns which of them says what.
    """
    _retold_searches.append(search)


class _Said(NamedTuple):
    """A sentence of a message, or what a JSON message says; then the span is the whole message."""

    message_id: UUID
    span: Span
    text: str


def messages_judge(message_ids: Collection[UUID]) -> frozenset[UUID]:
    """Withhold what these messages say of what their people refused, and mark the messages as judged.

    Returns the messages of inactive people, which can't be judged now. The causes, the pages and the way back are those
    of words that an agent posts again (``arriving``). A message that changed while something was found in it loses its
    vector, and is judged again. Not in a transaction. Raises EmbedderUnavailable.
    """
    rows = Message.objects.filter(pk__in=message_ids, unjudged=True).order_by()
    of_each: dict[tuple[UUID, UUID | None], list[UUID]] = defaultdict(list)
    left: set[UUID] = set()
    for writer, agent, pk in rows.values_list("user_id", "conversation__agent_id", "pk") if message_ids else ():
        of_each[writer, agent].append(pk)
    for (user_id, agent_id), ids in of_each.items():
        try:
            _judge(user_id, agent_id, ids)
        except NotFound:
            left.update(ids)
    return frozenset(left)


def _judge(user_id: UUID, agent_id: UUID | None, ids: Collection[UUID]) -> None:
    texts, said = RedactedTexts(user_id), list[_Said]()

    def read() -> list[str]:
        if not said:
            texts.read(ids)
            said.extend(each for pk in texts.messages for each in _told_in(texts, pk))
        return [each.text for each in said]

    with acting_as(principal_for_job(user_id)) as principal:
        found = [
            Found(*said[place][:2], Cause(each.cause_type, each.cause_id))
            for search in _retold_searches
            for place, each in search(user_id, read)
        ]
        if not found:
            Message.objects.filter(pk__in=ids).update(unjudged=False)
            return
        with ledger_write(principal.actor, user_id) as write:
            now = RedactedTexts.load(user_id, ids)
            same = [pk for pk in now.messages if now.messages[pk].content == texts.messages[pk].content]
            Message.objects.filter(pk__in=same).update(unjudged=False)
            stands = {Cause(each.cause_type, each.cause_id) for each in rejected_causes(user_id, not_kept=True)}
            found = [each for each in found if each.message_id in same and each.cause in stands]
            if found and (own := _own_of_narrowed(user_id, agent_id)) is not None:
                found = keep_off_record(user_id, found, own)
            if found:
                withhold_found(write, now, found)


def _told_in(texts: RedactedTexts, message_id: UUID) -> Iterator[_Said]:
    """Yield what a message says besides what is withheld of it."""
    original = texts.originals["message", str(message_id)]
    out = [each.span for each in texts.redactions[message_id] if each.key == ("message", str(message_id))]
    if is_json(original.text):
        whole = original.whole
        pieces = pieces_of(texts.messages[message_id].content, SHORT_CHARACTERS)
        told = ((whole, each) for each in pieces if MARK not in each)
    else:
        sentences = (each for each in original.sentences() if not any(each.overlaps(span) for span in out))
        told = ((span, original.words(span)) for span in sentences)
    kept = ((span, text) for span, text in told if len(list_words(text)) >= _FEWEST_WORDS)
    yield from (_Said(message_id, *each) for each in islice(kept, _MOST_JUDGED))


def _own_of_narrowed(user_id: UUID, agent_id: UUID | None) -> ConversationQuerySet | None:
    """Return the conversations of an agent that does not see everything; None for any other."""
    if agent_id is None:
        return None
    try:
        agent = principal_for_agent(agent_id, user_id)
    except NotFound:  # It has no access any more, and learns nothing.
        return None
    return None if sees_everything(agent) else Conversation.objects.filter(user_id=user_id, agent=agent_id)
