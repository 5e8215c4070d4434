"""Withhold (redact) passages of messages, and restore them.

The words are removed from their row, so code that reads messages needs no filter. ``Withheld`` keeps the words for some
days, each with its cause. All writes run in a transaction that holds the person's ledger. The number of statements does
not depend on the number of messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import NotFound, Refused
from journal.models import UndoStep
from journal.steps import UndoTarget

from ..echoes import active_texts
from ..models import Conversation, Message, Withheld
from ..passages import Original
from ..withheld_words import WithheldWords
from .withheld_rows import Cause, Redaction, RewritePlan
from .withheld_texts import RedactedTexts, message_of, redaction_of

MOST_PASSAGES = 20

Listener = Callable[[LedgerWrite, UUID, Collection[UUID], Cause], None]
_listeners: list[Listener] = []


def on_withheld(listener: Listener) -> None:
    """Register a listener. It is called in the transaction with the ids of the redacted messages and the cause."""
    _listeners.append(listener)


DeclineListener = Callable[[LedgerWrite, UUID, Collection[UUID], UUID | None], None]
_decline_listeners: list[DeclineListener] = []


def on_declined(listener: DeclineListener) -> None:
    """Register a listener for messages withheld by themselves, also in part, and the agent that relayed the wish."""
    _decline_listeners.append(listener)


KeptTexts = Callable[[UUID, Collection[UUID], Cause], Iterable[str]]
_kept_text_functions: list[KeptTexts] = []


def register_kept_texts(keeps: KeptTexts) -> None:
    """Register a function that returns the texts a room still keeps of these messages, apart from the cause.

    Words of those texts don't count when echoes are searched: the assistant may go on saying them.
    """
    _kept_text_functions.append(keeps)


def words_withhold(
    write: LedgerWrite,
    user_id: UUID,
    cause: Cause,
    quotes: Iterable[tuple[UUID, str]],
    titled: Collection[UUID] = (),
    *,
    verbatim: bool = False,
) -> None:
    """Withhold the sentences that hold the quotations, and later sentences of programs that repeat them.

    ``quotes``: pairs of message id and quotation. An empty quotation, or one not found in its message, withholds the
    whole message. Titles and evidence that repeat the words are withheld too, and so are the titles of the
    conversations of the messages in ``titled``. ``verbatim``: only the quotations themselves, not what else their
    sentences say. Listeners are called even when no message was affected.
    """
    request = _Request.of(quotes, titled, verbatim=verbatim)
    with write.nested_change():
        affected = _withhold(write, user_id, cause, request) if request.by_message or request.titled else set()
        for listener in _listeners:
            listener(write, user_id, affected, cause)


def words_decline(
    write: LedgerWrite,
    user_id: UUID,
    cause: Cause,
    quotes: Collection[tuple[UUID, str]],
    titled: Collection[UUID] = (),
    *,
    relayed_by: UUID | None = None,
) -> None:
    """Withhold words by themselves, not with a statement: as ``words_withhold``, and what was learned from them leaves.

    That is done by the listeners of ``on_declined``. The caller also holds the ledgers of the conversations' legacies.
    """
    words_withhold(write, user_id, cause, quotes, titled)
    for listener in _decline_listeners if quotes else ():
        listener(write, user_id, {pk for pk, _ in quotes}, relayed_by)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request: quotations by message, whether only these, and the messages whose talks' titles are withheld."""

    by_message: Mapping[UUID, Sequence[str]]
    titled: frozenset[UUID]
    verbatim: bool = False

    @classmethod
    def of(cls, quotes: Iterable[tuple[UUID, str]], titled: Collection[UUID], *, verbatim: bool = False) -> _Request:
        by_message: dict[UUID, list[str]] = defaultdict(list)
        for message_id, quote in quotes:
            by_message[message_id].append(quote)
        return cls(by_message, frozenset(titled), verbatim)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The planned result of a request: the affected messages and the writes."""

    request: _Request
    texts: RedactedTexts
    messages: frozenset[UUID]
    made: RewritePlan


_plans_ahead: ContextVar[Mapping[Cause, _Plan]] = ContextVar("planned_withholding", default=MappingProxyType({}))


@contextmanager
def plan_withholding(
    user_id: UUID,
    wanted: Mapping[Cause, Collection[tuple[UUID, str]]],
    titled: Mapping[Cause, Collection[UUID]] = MappingProxyType({}),
    unstored: Collection[Message] = (),
    verbatim: Collection[Cause] = (),
) -> Iterator[None]:
    """Plan ``words_withhold`` before the lock is taken: searching echoes is slow for long histories.

    ``wanted``: quotations by cause; ``titled``: messages by cause; ``unstored``: messages that will be stored before
    ``words_withhold`` is called, with the conversation and the index that they will have; ``verbatim``: the causes for
    which that is asked for. Inside the block ``words_withhold`` only plans again if the texts have changed.
    """
    requests = {
        cause: _Request.of(wanted.get(cause, ()), titled.get(cause, ()), verbatim=cause in verbatim)
        for cause in {**wanted, **titled}
        if wanted.get(cause) or titled.get(cause)
    }
    new = {row.pk: row for row in unstored}
    plans = {
        cause: _make_plan(user_id, cause, each, tracks_changes=True, unstored=new) for cause, each in requests.items()
    }
    token = _plans_ahead.set(plans)
    try:
        yield
    finally:
        _plans_ahead.reset(token)


def _withhold(write: LedgerWrite, user_id: UUID, cause: Cause, request: _Request) -> set[UUID]:
    plan = _plans_ahead.get().get(cause)
    if plan is None or plan.request != request or not plan.texts.is_unchanged():
        plan = _make_plan(user_id, cause, request)
    plan.texts.rewrite(write, plan.made)
    return set(plan.messages)


def _make_plan(user_id: UUID, cause: Cause, request: _Request, **how: Any) -> _Plan:
    """Plan a request; ``how`` as for ``RedactedTexts.load``."""
    by_message = request.by_message
    texts = RedactedTexts.load(user_id, {*by_message, *request.titled}, **how)
    there = [pk for pk in by_message if pk in texts.messages]
    spans = {pk: texts.spans(pk, by_message[pk], verbatim=request.verbatim) for pk in there}
    # A declined message withholds what was learned from it, too, so nothing is exempt.
    exempt = by_message and cause.type != Withheld.Cause.MESSAGE
    kept = list(_kept_texts(user_id, by_message, cause)) if exempt else []
    # The assistant's question may tell more than the sentence it was about.
    own = {pk: each for pk, each in spans.items() if texts.messages[pk].role == Message.Role.USER} or spans
    words = texts.words(own, verbatim=request.verbatim)
    said = WithheldWords([each for each in words if each], texts.names, kept)
    first = texts.first_in_each(spans)
    repeated = {} if request.verbatim else texts.matching_sentences(spans, said.is_said_by, said)
    for pk, again in repeated.items():
        spans[pk] += again
    said.stays = texts.what_stays(said, first, spans)
    spans |= texts.echoes(said, first)
    redactions = texts.redactions
    wanted = {pk: texts.redactions_for(pk, each, cause, redactions[pk]) for pk, each in spans.items()}
    titles = {pk: str(texts.messages[pk].conversation_id) for pk in request.titled if pk in texts.messages}
    for pk, title in [*titles.items(), *texts.titles(said, first).items()]:
        whole = texts.originals["title", title].whole
        wanted.setdefault(pk, set()).add(Redaction("title", title, 0, whole.end, cause.type, cause.id))
    made = texts.plan_rewrite({pk: redactions[pk] | each for pk, each in wanted.items()})
    return _Plan(request, texts, frozenset(spans), made)


def _kept_texts(user_id: UUID, ids: Collection[UUID], cause: Cause) -> Iterator[str]:
    return (text for keeps in _kept_text_functions for text in keeps(user_id, ids, cause))


def withhold_in_replies(write: LedgerWrite, conversation: Conversation, ids: Collection[UUID]) -> None:
    """Withhold sentences of new messages by programs that repeat words withheld in the conversation.

    The reply may have been generated before the person refused. What an active statement says may be repeated.
    """
    said: dict[Cause, list[str]] = defaultdict(list)
    rows = Withheld.objects.filter(conversation=conversation, message__role="user").restorable().passages()
    for cause_type, cause_id, text in rows.values_list("cause_type", "cause_id", "text"):
        original = Original(text)
        said[Cause(cause_type, cause_id)] += [original.words(span) for span in original.sentences()]
    if not said:
        return
    texts = RedactedTexts.load(conversation.user_id, ids)
    wanted = texts.redactions
    for cause, sentences in said.items():
        each_of = WithheldWords(sentences, texts.names)
        each_of.stays = [
            *texts.what_stays(each_of, [conversation.pk], {}),
            *active_texts(conversation.user_id, each_of),
        ]
        for pk, spans in texts.matching_sentences(ids, each_of.is_echoed_by, each_of).items():
            wanted[pk] |= texts.redactions_for(pk, spans, cause, wanted[pk])
    texts.apply(write, wanted)


def words_restore(write: LedgerWrite, user_id: UUID, cause_type: str, ids: Iterable[object]) -> None:
    """Restore words withheld for these causes, unless another cause still withholds them or they were erased.

    For deleted messages the row is deleted, so that an import may bring the words again.
    """
    because = Withheld.objects.filter(user_id=user_id).because_of(cause_type, ids)
    rows = list(because.filter(~Q(text="") | Q(message__isnull=True)))
    found: dict[UUID, set[Redaction]] = defaultdict(set)
    for row in rows:
        if row.message_id is not None:
            found[row.message_id].add(redaction_of(row))
    if outlived := [row.pk for row in rows if row.message_id is None]:
        Withheld.objects.filter(pk__in=outlived).delete()
    if not found:
        return
    texts = RedactedTexts.load(user_id, found)
    redactions = texts.redactions
    with write.nested_change():
        texts.apply(write, {pk: redactions[pk] - each for pk, each in found.items()})


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """A quotation in a message, or with index None the conversation's title."""

    conversation_id: UUID
    index: int | None
    quote: str


def passages_withhold(principal: Principal, places: Sequence[PassagePlace], cause: Cause | None = None) -> list[UUID]:
    """Withhold passages that the person chose. Returns the ids of their messages.

    With a ``cause`` they are restored when that cause is undone; without one, unreviewed statements that rest only on
    them leave use. Raises NotYoursToDecide, NotFound without such a message, Refused (400) for none or more than 20.
    """
    user_id = must_decide(principal)
    if not 0 < len(places) <= MOST_PASSAGES:
        raise Refused(
            _("Withhold between 1 and %(most_passages)s passages at once.") % {"most_passages": MOST_PASSAGES},
            code="too_many",
        )
    quotes, titled, rows = _resolve_places(principal, places, cause)
    legacies = {row.legacy_id for row in rows if row.legacy_id is not None}
    takes_away = words_decline if cause is None else words_withhold
    with plan_withholding(user_id, quotes, titled), ledger_write(principal.actor, user_id, *legacies) as write:
        quotes, titled, rows = _resolve_places(principal, places, cause)
        for because in {**quotes, **titled}:
            takes_away(write, user_id, because, quotes[because], titled[because])
        ids = [row.pk for row in rows]
        write.result("message", *ids, status_code=201)
    return ids


def _resolve_places(
    principal: Principal, places: Sequence[PassagePlace], cause: Cause | None
) -> tuple[dict[Cause, list[tuple[UUID, str]]], dict[Cause, list[UUID]], list[Message]]:
    """Resolve places to quotations by cause, messages with titles by cause, and all messages. Raises NotFound."""
    # A title is withheld through the first message of its conversation.
    wanted = [Q(conversation_id=each.conversation_id, index=each.index or 0) for each in places]
    rows = Message.objects.visible_to(principal).filter(reduce(or_, wanted))
    found = {(row.conversation_id, row.index): row for row in rows.only("conversation_id", "index", "legacy_id")}
    if any((each.conversation_id, each.index or 0) not in found for each in places):
        raise NotFound("There is no such message.")
    quotes: dict[Cause, list[tuple[UUID, str]]] = defaultdict(list)
    titled: dict[Cause, list[UUID]] = defaultdict(list)
    for each in places:
        pk = found[each.conversation_id, each.index or 0].pk
        because = cause or Cause(Withheld.Cause.MESSAGE, str(pk))
        if each.index is None:
            titled[because].append(pk)
        else:
            quotes[because].append((pk, each.quote))
    return quotes, titled, list(found.values())


def original_quotes(rows: QuerySet[Any]) -> list[tuple[UUID, str]]:
    """Return the message id and original quotation of each evidence row, without erased quotations."""
    label = rows.model._meta.label_lower
    quotes = list(rows.values_list("pk", "message_id", "quote"))
    kept = Withheld.objects.filter(object_type=label, object_id__in=[str(pk) for pk, _, _ in quotes])
    texts = dict(kept.values_list("object_id", "text"))
    return [(message_id, texts.get(str(pk), quote)) for pk, message_id, quote in quotes if texts.get(str(pk), quote)]


def withheld_restore(principal: Principal, withheld_id: UUID) -> None:
    """Restore withheld words, and everything withheld for the same causes.

    Raises NotYoursToDecide, NotFound (also once the words were erased).
    """
    user_id = must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        row = Withheld.objects.visible_to(principal).restorable().filter(pk=withheld_id).first()
        if row is None:
            raise NotFound("There are no such words, or they were erased.")
        same = Withheld.objects.visible_to(principal).filter(
            object_type=row.object_type, object_id=row.object_id, start__lt=row.end, end__gt=row.start
        )
        for cause_type, cause_id in set(same.values_list("cause_type", "cause_id")):
            words_restore(write, user_id, cause_type, [cause_id])
        write.result("message", row.message_id)


def messages_undo(write: LedgerWrite, principal: Principal, wanted: Sequence[UndoTarget]) -> Mapping[str, str]:
    """Restore messages' earlier redactions, for undo. Returns the messages not restored, by id, with an error code."""
    user_id = must_decide(principal)
    texts = RedactedTexts.load(user_id, [UUID(each.object_id) for each in wanted])
    erased = _erased(texts)
    left, back = {}, {}
    for each in wanted:
        pk, earlier = UUID(each.object_id), _earlier(each.before)
        if pk not in texts.messages or not erased[pk] <= earlier:
            left[each.object_id] = "not_there"
        else:
            back[pk] = earlier
    texts.apply(write, back)
    for declined in (True, False):
        # A message that is its own cause is a declined one.
        ids = [pk for pk, earlier in back.items() if texts.is_declined(pk, earlier) == declined]
        marks = {"declined": True, "reading_due": None} if declined else {"declined": False}
        Message.objects.filter(pk__in=ids).exclude(declined=declined).update(**marks)
    return left


BeforeErasure = Callable[[UUID, QuerySet[Withheld]], None]
_before_erasure: list[BeforeErasure] = []


def before_withheld_erased(keep: BeforeErasure) -> None:
    """Register a function that keeps what may be kept of a person's withheld words that are about to be erased."""
    _before_erasure.append(keep)


def forget_erased_redactions(user_id: UUID, message_ids: Collection[UUID]) -> None:
    """Delete the undo steps of messages that would bring back words which were erased."""
    erased = _erased(RedactedTexts.load(user_id, message_ids))
    steps = UndoStep.objects.filter(ledger_id=user_id, object_type="message", object_id__in=[str(pk) for pk in erased])
    over = [step.pk for step in steps if not erased[UUID(step.object_id)] <= _earlier(step.before)]
    UndoStep.objects.filter(pk__in=over).delete()


def _erased(texts: RedactedTexts) -> Mapping[UUID, set[Redaction]]:
    """Return the redactions whose words were erased, by message; empty for any other."""
    erased: defaultdict[UUID, set[Redaction]] = defaultdict(set)
    for row in texts.rows.values():
        if not row.text:
            erased[message_of(row)].add(redaction_of(row))
    return erased


def _earlier(before: Mapping[str, Any]) -> set[Redaction]:
    """Return the redactions of a message before a step."""
    return {Redaction(*redaction) for redaction in before.get("withheld", ())}


def withheld_erase() -> int:
    """Erase withheld words whose retention has ended. Returns the number of rows."""
    due = Withheld.objects.restorable().filter(erase_at__lte=timezone.now())
    for user_id in due.order_by().values_list("user_id", flat=True).distinct():
        for keep in _before_erasure:
            keep(user_id, due.filter(user_id=user_id))
    return due.update(text="")
