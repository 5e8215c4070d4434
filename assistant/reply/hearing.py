"""Interpretation of a message: consent to a question, and, without a model, its statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.categories import load as load_categories
from accounts.principals import Principal
from conversations.models import Conversation, Message
from facts.actions import foresee_extracted
from facts.models import LegacyFact
from language.backends import get_embedder, get_reply_model
from language.base import EmbedderUnavailable, Extraction, ExtractionRequest, Source, ToolRequest
from language.gates import first_sensitive, mask_sensitive
from language.heard import Heard
from language.reading.answering import MOST_TOLD_OF_ALL
from language.reading.questions import tells_something
from language.reading.refusals import (
    agrees_to_all,
    asks_to_keep,
    begins_with_yes,
    corrects_asked,
    leaves_open,
    says_only,
    says_yes,
)
from language.reading.second_tries import has_correction
from language.second_person import told_to
from language.shown import quoted
from memories.models import Memory
from memories.policy import writing as filing
from memories.queries import kept_by_person
from memories.records import WritePolicy
from statements.policy import waits_in_words
from statements.policy.naming import in_second_person
from statements.wording import Embedded

from ..learn import tools
from ..learn.learning import Part, plan_changes
from ..learn.plan import Adding, Doubting, Plan, Rewording
from .refused import as_told, heard_refusal
from .settling import settled_by

if TYPE_CHECKING:
    from .actions import Begun

_Told = tuple[int, str, bool]
"""The place of the message, a statement as it is stored, and whether it is about a memorialised person."""
_ASKED_BEFORE = 8
"""How many messages before a yes are looked at for what it confirms."""
_LOOKS_BACK = 20
"""How many messages of a talk are read again for a question about what was said in it."""


def asked_about(conversation_id: UUID, index: int, content: str, *, agrees: bool) -> Message | None:
    """Return the held message that the person confirmed with message ``index``, or None.

    Their questions, hesitation and other refusals in between do not end the offer, unless an answer asks something
    else. ``agrees``: as ``agrees_in_words`` finds.
    """
    return _left_open(conversation_id, index) if agrees or says_yes(content) else None


def agrees_in_words(conversation_id: UUID, content: str, index: int | None = None) -> bool:
    """Whether an answer lets something be kept that was just asked about, and says more, or says it otherwise.

    "Yes, but she's a dentist", "no, on Tuesday", "only the car". ``index``: that of the answer if it is saved already.
    """
    agrees = begins_with_yes(content) and not says_yes(content)
    if "?" in content or not (agrees or has_correction(content) or says_only(content)):
        return False
    before = Message.objects.filter(conversation_id=conversation_id).order_by("-index")
    before = before if index is None else before.filter(index__lt=index)
    role, question = before.values_list("role", "content").first() or ("", "")
    is_asked = role not in {"", Message.Role.USER} and asks_to_keep(question)
    return is_asked and (agrees or corrects_asked(question, content) or agrees_to_all(question, content))


def _left_open(conversation_id: UUID, index: int) -> Message | None:
    """Return the held message that the person has not answered for before message ``index``, or None."""
    before = Message.objects.filter(conversation_id=conversation_id, index__lt=index).without_vectors()
    answer = ""
    for message in before.order_by("-index")[:_ASKED_BEFORE]:
        if message.role != Message.Role.USER:
            answer = message.content
        elif message.held_until is not None:
            return None if message.processed else message
        elif message.declined or not leaves_open(message.content) or ("?" in answer and not asks_to_keep(answer)):
            return None
    return None


def heard_in(principal: Principal, begun: Begun, held: Message | None) -> Heard:
    """Read the answered message, or the ``held`` one that it confirms, as the extraction will, beside all it compares.

    With fewer memories another one could seem to be meant, and a change be told that is never made.
    """
    if begun.turn.refusals:
        return _heard_refusal_in_talk(principal, begun)
    if held is None and (decided := settled_by(principal, begun)) is not None:
        return _ask_again(principal, begun, decided) if decided.decided == "given_back" else decided
    return _heard(principal, begun, held)


def _ask_again(principal: Principal, begun: Begun, decided: Heard) -> Heard:
    """Ask once more about what was refused, now that this is undone, unless it is read already."""
    held = _left_open(begun.conversation_id, begun.message_index)
    return decided if held is None else replace(decided, new=_heard(principal, begun, held, agreed=False).new)


def _heard_refusal_in_talk(principal: Principal, begun: Begun) -> Heard:
    """What to answer to a refusal, with what the person agreed to beside it."""
    refused = heard_refusal(begun, principal)
    if (agreed := _agreed_in_part(begun)) is not None:
        return replace(_heard(principal, begun, agreed), refused=True, in_part=True)
    held = _left_open(begun.conversation_id, begun.message_index)
    if held is None or held.held_until is None or held.held_until <= timezone.now():
        return refused
    return replace(refused, new=_heard(principal, begun, held, agreed=False).new)


def _agreed_in_part(begun: Begun) -> Message | None:
    """Return the message of which the answered one lets a part be kept and refuses the rest."""
    withheld = {index for each in begun.turn.refusals for index in each["withheld"]} - {begun.message_index}
    said = Message.objects.filter(conversation_id=begun.conversation_id, index__in=withheld, declined=False)
    released = said.filter(held_until__lte=F("at"), processed=False, index__lt=begun.message_index)
    return released.without_vectors().order_by("-index").first()


def _heard(principal: Principal, begun: Begun, held: Message | None, *, agreed: bool = True) -> Heard:
    conversation = Conversation.objects.visible_to(principal).select_related("legacy").must_find(begun.conversation_id)
    due = begun.message_index if held is None else held.index
    read = {due}
    if held is not None and agrees_in_words(begun.conversation_id, begun.question, begun.message_index):
        due = begun.message_index
        read.add(due)
    first = min(read) - settings.EXTRACTION_CONTEXT_MESSAGES
    around = Message.objects.filter(conversation=conversation, index__gte=first, index__lte=due).without_vectors()
    messages = [each for each in around.order_by("index") if each.is_open(timezone.now(), asked=True)]
    part = Part.of(conversation, messages, lambda message: message.index in read)
    plan, _ = plan_changes(
        principal,
        get_reply_model(),
        part,
        candidates=lambda: _read(principal, part).memories,
        keep=lambda: None,
    )
    facts = [] if part.legacy_name is None else _read(principal, part).facts
    foreseen = (
        foresee_extracted(
            principal,
            begun.user_id,
            conversation.legacy_id,
            [each for each in facts if not read.isdisjoint(each.indices)],
        )
        if facts and conversation.legacy_id
        else []
    )
    # An agent may tell what its person said, which is not their word on everything.
    relayed = any(each.index in read and each.voice != Message.Voice.OWN for each in messages)
    if held is not None and not relayed:
        relayed = Message.objects.filter(pk=begun.message_id).exclude(voice=Message.Voice.OWN).exists()
    heard = _told(principal, plan, agreed=agreed and held is not None, relayed=relayed)
    secret = first_sensitive(begun.question)
    return replace(
        heard,
        told=tuple(told_to(principal.name, content) for content, why in foreseen if why is None),
        held=tuple(
            (told_to(principal.name, content), waits_in_words(why)) for content, why in foreseen if why is not None
        ),
        about=part.legacy_name or "",
        secret=secret.kind if secret else "",
    )


def said_here(principal: Principal, begun: Begun) -> list[Source]:
    """Return the person's statements in this conversation that are not stored yet, most similar to the question first.

    Without declined and corrected ones. Of the legacy also those that wait for review: the person said them here.
    Without the embedder, latest first.
    """
    conversation = Conversation.objects.visible_to(principal).select_related("legacy").must_find(begun.conversation_id)
    theirs = Message.objects.filter(conversation=conversation, role=Message.Role.USER, index__lt=begun.message_index)
    waiting = theirs.filter(index__gte=conversation.summarized_upto, declined=False, memory_off=False).without_vectors()
    messages = list(waiting.order_by("-index")[:_LOOKS_BACK])
    part = Part.of(conversation, messages[::-1], lambda _: True)
    unread = {message.index for message in messages if not message.processed}
    told = [(index, content, False) for index, content in _holding(principal, part) if index in unread]
    facts = () if part.legacy_name is None else _read(principal, part).facts
    told += [(each.indices[0], each.content, True) for each in facts if not unread.isdisjoint(each.indices)]
    at = {message.index: message.at for message in messages}
    for index, content, said_at in _waiting_facts(principal, begun, conversation):
        told.append((index, content, True))
        at[index] = said_at
    told.sort(key=lambda each: -each[0])
    return [
        Source(
            told_to(principal.name, content) if of_legacy else in_second_person(content),
            _("you said so in this talk"),
            of_legacy=of_legacy,
            stored=content,
            at=at[index],
        )
        for index, content, of_legacy in _by_nearness(told, begun.question)
    ]


def _waiting_facts(
    principal: Principal, begun: Begun, conversation: Conversation
) -> Iterable[tuple[int, str, datetime]]:
    """Return the index, content and time of facts that were read in the conversation and wait for review."""
    if conversation.legacy_id is None:
        return ()
    facts = LegacyFact.objects.visible_to(principal).filter(
        user_id=begun.user_id,
        state=LegacyFact.State.PROPOSED,
        evidence__message__conversation=conversation,
    )
    columns = ("evidence__message__index", "content", "evidence__message__at")
    return facts.order_by("-evidence__message__index", "pk").values_list(*columns)[:_LOOKS_BACK]


def _holding(principal: Principal, part: Part) -> list[tuple[int, str]]:
    """Return the statements of a part that hold at its end, by message index."""
    categories = sorted(load_categories().by_name)
    request = ToolRequest(
        part.messages, principal.name, (), tools.specs(categories), categories, part.most, legacy_name=part.legacy_name
    )
    calls = [tools.read(call.name, call.arguments) for call in get_reply_model().choose_tools(request).calls]
    return [(each.evidence.index, each.content) for each in calls if isinstance(each, tools.Addition)]


def find_said_at(principal: Principal, begun: Begun, when: str, *, elsewhere: bool) -> list[Source]:
    """Return the person's statements in this conversation, today, yesterday, or in the previous conversation.

    ``when``: the person's words for it. Other conversations are included only if ``elsewhere``.
    """
    said = Message.objects.visible_to(principal).filter(role=Message.Role.USER, declined=False, memory_off=False)
    said = said.exclude(conversation=begun.conversation_id, index__gte=begun.message_index).without_vectors()
    said = said.filter(conversation__private=False) if elsewhere else said.filter(conversation=begun.conversation_id)
    if "today" in when or "yesterday" in when:
        midnight = timezone.now().astimezone(principal.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        start = midnight - timedelta(days=1) if "yesterday" in when else midnight
        said = said.filter(at__gte=start, at__lt=start + timedelta(days=1))
    elif begun.message_index and "last" not in when:
        said = said.filter(conversation=begun.conversation_id)
    else:
        others = said.exclude(conversation=begun.conversation_id).order_by("-at")
        said = said.filter(conversation=others.values("conversation")[:1])
    told = [mask_sensitive(" ".join(each.content.split())) for each in said.order_by("-at", "-index")[:_LOOKS_BACK]]
    telling = [each for each in told if tells_something(each) and not says_yes(each)]
    return [Source(quoted(each), when or _("you said so"), quoted=True) for each in telling[:MOST_TOLD_OF_ALL]][::-1]


def nearness(texts: Sequence[str], *questions: str) -> list[list[float]]:
    """Return the cosines of each question with all texts; none without texts or the embedder."""
    embedder = get_embedder()
    try:
        vectors = embedder.embed_passages(list(texts)) if texts else None
        return [] if vectors is None else [(vectors @ embedder.embed_query(each)).tolist() for each in questions]
    except EmbedderUnavailable:
        return []


def _by_nearness(told: Sequence[_Told], question: str) -> Sequence[_Told]:
    found = nearness([content for _index, content, _of_legacy in told], question) if len(told) > 1 else []
    return [told[place] for scores in found for place in sorted(range(len(told)), key=lambda at: -scores[at])] or told


def _read(principal: Principal, part: Part) -> Extraction:
    categories = sorted(load_categories().by_name)
    return get_reply_model().extract(
        ExtractionRequest(part.messages, principal.name, part.legacy_name, LegacyFact.Category.values, categories)
    )


def _told(principal: Principal, plan: Plan, *, agreed: bool, relayed: bool) -> Heard:
    adding = [each for each in plan.steps if isinstance(each, Adding) and not each.held_back]
    wanted = [each for each in adding if each.consent or agreed]
    rewording = [each for each in plan.steps if isinstance(each, Rewording)]
    kept: Collection[str] = ()
    meanings = [each.statement for each in Embedded.of_each([each.content for each in rewording])]
    fields = {
        each.known.id: each.known.field
        or filing.said_field(principal, each.content, each.known.kind, each.known.subject, meaning)
        for each, meaning in zip(rewording, meanings, strict=True)
        if not filing.keeps_value(each.known.content, each.content)
    }
    if relayed and rewording:
        known = Memory.objects.filter(pk__in=[each.known.id for each in rewording]).without_vectors()
        kept = kept_by_person(principal, known, WritePolicy(relayed=True))

    def waits(step: Adding | Rewording) -> bool:
        """As it is decided when the plan is carried out, by what a model writes."""
        if isinstance(step, Adding):
            field = step.new.field
        else:
            if step.known.id in kept:
                return True
            field = fields.get(step.known.id, "")
        settled = filing.is_settled(principal, step.consent or agreed, relayed, field)
        return not settled and (principal.review == "before" or bool(field))

    return Heard(
        new=tuple(in_second_person(each.new.content) for each in adding if each not in wanted),
        noted=tuple(in_second_person(each.new.content) for each in wanted if not waits(each)),
        changed=tuple(
            (as_told(each.known.content), in_second_person(each.content)) for each in rewording if not waits(each)
        ),
        waiting=tuple(
            in_second_person(each)
            for each in (
                *(step.content for step in rewording if waits(step)),
                *(step.new.content for step in wanted if waits(step)),
            )
        ),
        doubted=tuple(as_told(each.known.content) for each in plan.steps if isinstance(each, Doubting)),
        agreed=agreed,
    )
