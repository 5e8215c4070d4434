"""Loads the demo data through the actions that real people and agents use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts import actions as accounts
from accounts.models import Agent, Legacy, User
from accounts.principals import Principal
from accounts.queries import principal_for_person, principal_for_staff
from accounts.scope import acting_as
from conversations import actions as conversations
from conversations.models import Conversation, Message
from facts import actions as facts
from facts.models import LegacyFact
from journal.exceptions import Gated, Unavailable
from language.backends import embedder_replaced, get_embedder
from language.base import Embedder, EmbedderUnavailable, Vectors
from memories import actions as memories
from memories.models import Memory, Place, Proposal
from memories.records import NewMemory
from statements.models import Suppression
from statements.policy.naming import as_of_user
from statements.wording import Embedded

from ..learn.summarizing import conversation_finish, maybe_summarize
from .content import (
    DemoContent,
    DemoConversation,
    DemoDecision,
    DemoMemory,
    DemoPerson,
    DemoPlace,
    read_content,
)

CHANNEL = "demo"
PROCESSING_SECONDS = 180
KEY_SCOPES = ("read", "write")


@dataclass(frozen=True, slots=True)
class SignIn:
    """The login of a demo person, with a description of their data."""

    name: str
    password: str
    what: str


def demo_is_loaded() -> bool:
    """Whether the demo's people exist. Reads no personal data, so it needs no principal."""
    content = read_content()
    return Agent.objects.filter(name=content.agent, issuer=content.issuer, owner__username=content.staff.name).exists()


def demo_sign_ins() -> list[SignIn]:
    """Return the logins of the demo; none if it is not loaded."""
    if not demo_is_loaded():
        return []
    content = read_content()
    people = (*content.people, content.staff)
    return [SignIn(person.name, person.password, person.what) for person in people if person.password]


def demo_load() -> None:
    """Load the demo, or what is missing of it (idempotent).

    Raises Refused (400) if one of its names is taken, Unavailable (503) if the conversations were not processed in
    time; the next run continues.
    """
    content = read_content()
    if not demo_is_loaded():
        _found(content)
    legacy = Legacy.objects.visible_to(_person(content.owner)).get(name=content.legacy)
    talks = [talk for talk in content.conversations if not _is_done(talk)]
    unknown = [memory for memory in content.memories if not _is_known(memory)]
    places = [place for place in content.places if not _is_kept(place)]
    if talks or unknown or places:
        with _agent_principals(content) as principal_of:
            for talk in talks:
                with acting_as(principal_of(talk.person)) as principal:
                    _talk(principal, legacy.pk, talk)
            for memory in unknown:
                with acting_as(principal_of(memory.person)) as principal:
                    _remember(principal, memory)
            for place in places:
                with acting_as(principal_of(place.person)) as principal:
                    _keep(principal, place)
    for decision in content.decisions:
        with acting_as(_person(decision.person)) as principal:
            _decide(content, principal, legacy.pk, decision)
    facts.facts_index()


def _found(content: DemoContent) -> None:
    """Create the people, their legacy and the service agent, in one transaction."""
    with transaction.atomic():
        for person in content.people:
            _user_create(person)
            if person.preferences:
                accounts.preferences_set(_person(person.name), **person.preferences)
        staff = _user_create(content.staff, superuser=True)
        _, sent = accounts.legacy_create(_person(content.owner), content.legacy, content.members)
        for name, invited in zip(content.members, sent, strict=True):
            accounts.invitation_accept(_person(name), invited.code)
        accounts.agent_create(
            principal_for_person(staff.pk), content.agent, kind=Agent.Kind.SERVICE, issuer=content.issuer
        )


def _user_create(person: DemoPerson, *, superuser: bool = False) -> User:
    return accounts.user_create(
        person.name, display_name=person.display_name, password=person.password, superuser=superuser
    )


def _person(name: str) -> Principal:
    return principal_for_person(User.objects.get(username=name).pk)


@contextmanager
def _agent_principals(content: DemoContent) -> Iterator[Callable[[str], Principal]]:
    """Yield principals of the service agent; its key is revoked at the end of the block."""
    owner = _person(content.staff.name)
    agent = Agent.objects.visible_to(owner).get(name=content.agent)
    key, credential = accounts.agent_key_create(owner, agent.pk, KEY_SCOPES)
    public, _, secret = credential.removeprefix("ks_").partition(".")
    try:
        yield partial(accounts.principal_for_key, public, secret)
    finally:
        accounts.agent_key_revoke(owner, key.pk)


def _is_done(talk: DemoConversation) -> bool:
    """Whether a conversation is stored and completely summarised."""
    own = Conversation.objects.visible_to(_person(talk.person)).filter(channel=CHANNEL, external_id=talk.id)
    return own.filter(message_count__gte=len(talk.said), summarized_upto=F("message_count")).exists()


def _talk(principal: Principal, legacy_id: UUID, talk: DemoConversation) -> None:
    """Append the missing messages of a conversation, wait for its summary, and end it."""
    conversation = conversations.conversation_create(
        principal, legacy_id=legacy_id, title=talk.title, channel=CHANNEL, external_id=talk.id
    )
    speakers = {"user": principal.name, "assistant": read_content().agent}
    said = [
        conversations.NewMessage(role=role, content=text, speaker=speakers[role], at=at)
        for (role, text), at in zip(talk.said, talk.times(timezone.now()), strict=True)
    ][conversation.message_count :]
    if said:
        conversations.messages_append(principal, conversation.pk, said)
    conversations.messages_index(conversation.pk)
    maybe_summarize(conversation.pk)
    conversation_finish(principal, conversation.pk)
    _wait_until_processed(conversation.pk)


def _wait_until_processed(conversation_id: UUID) -> None:
    """Summarise due batches, and wait for those that a worker has taken."""
    deadline = time.monotonic() + PROCESSING_SECONDS
    while maybe_summarize(conversation_id) or Conversation.objects.get(pk=conversation_id).unsummarized:
        if time.monotonic() > deadline:
            raise Unavailable("The demo's conversations could not be processed in time. Run seed_demo again.")
        time.sleep(0.2)


def _is_known(memory: DemoMemory) -> bool:
    """Whether a demo memory was written before; a deleted one has left a suppression."""
    person = User.objects.get(username=memory.person).pk
    rows = Memory.objects.visible_to(principal_for_person(person))
    if rows.filter(external_id=memory.id, agent__name=read_content().agent).exists():
        return True
    (let_go,) = Suppression.objects.matches(person, [Embedded(memory.worded[-1], None, "")])
    return bool(let_go)


class _Prepared:
    """An embedder with precomputed vectors, as none may be called in a transaction."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self.name, self.dimensions, self.embed_query = embedder.name, embedder.dimensions, embedder.embed_query
        self._known: dict[str, Vectors] = {}
        with suppress(EmbedderUnavailable):
            self._known = dict(zip(texts, embedder.embed_passages(texts), strict=True))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (len(texts), dimensions). Raises EmbedderUnavailable for other texts."""
        if not all(text in self._known for text in texts):
            raise EmbedderUnavailable("This text was not embedded before the transaction.")
        return np.array([self._known[text] for text in texts])


def _remember(principal: Principal, memory: DemoMemory) -> None:
    """Add and reword a memory as the agent, then decide about it as the person, in one transaction."""
    said = Message.objects.visible_to(principal).filter(content__contains=memory.said) if memory.said else None
    wordings = [*memory.worded, *([memory.proposes] if memory.proposes else [])]
    wordings += [as_of_user(each, principal.name) for each in wordings]
    with embedder_replaced(_Prepared(get_embedder(), wordings)), transaction.atomic():
        new = NewMemory(
            content=memory.worded[0],
            category=memory.category,
            subject=memory.subject,
            topics=memory.topics,
            importance=memory.importance,
            field=memory.field,
            external_id=memory.id,
        )
        message_id = said.values_list("pk", flat=True).first() if said is not None else None
        made = memories.memory_add(principal, new, insist=True, message_id=message_id).memory
        for wording in memory.worded[1:]:
            memories.memory_update(principal, made.pk, wording)
        for decision in memory.decide:
            memories.memories_decide(_person(memory.person), {made.pk: None}, decision)
        if memory.proposes:
            memories.memory_update(principal, made.pk, memory.proposes)
        if memory.forget:
            memories.memory_archive(principal, made.pk)


def _is_kept(place: DemoPlace) -> bool:
    """Whether a demo place was added or proposed before; a rejected one has left a suppression."""
    principal = _person(place.person)
    proposed = Proposal.objects.visible_to(principal).filter(kind=Proposal.Kind.PLACE, values__place_id=place.id)
    kept = Place.objects.visible_to(principal).filter(place_id=place.id)
    return proposed.exists() or kept.exists()


def _keep(principal: Principal, place: DemoPlace) -> None:
    """Add a place with its mentions as the agent, decide as the person, and change its notes as the agent."""
    person = _person(place.person)
    named = Message.objects.visible_to(principal)
    said = [named.filter(content__contains=words).values_list("pk", flat=True).first() for words in place.said]
    messages = [pk for pk in said if pk]
    texts = [place.name, place.notes, *([place.later] if place.later else [])]
    prepared = _Prepared(get_embedder(), texts)
    with embedder_replaced(prepared), transaction.atomic(), suppress(Gated):  # What its person refused stays away.
        added = memories.place_add(principal, place.id, place.name, place.notes, message_id=next(iter(messages), None))
        if added.proposal is not None and place.decide == "approve":
            memories.proposal_approve(person, added.proposal.pk)
        kept = Place.objects.visible_to(person).present().filter(place_id=place.id).first()
        if kept is None:
            return
        for message_id in messages[1:]:
            memories.place_mention(principal, kept.pk, message_id)
        if place.later:
            memories.place_edit(principal, kept.pk, notes=place.later)
        if place.decide == "remove":
            memories.place_remove(person, kept.pk)


def _decide(content: DemoContent, principal: Principal, legacy_id: UUID, decision: DemoDecision) -> None:
    """Decide about the person's undecided facts that contain the words."""
    rows = (
        LegacyFact.objects.mine(principal)
        .present()
        .filter(legacy_id=legacy_id, source_conversation__channel=CHANNEL, reviewed_at__isnull=True)
    )
    for word in decision.words:
        rows = rows.filter(content__icontains=word)
    for fact_id in rows.values_list("pk", flat=True):
        _DECISIONS[decision.decision](content, principal, fact_id, decision)


def _share(content: DemoContent, principal: Principal, fact_id: UUID, decision: DemoDecision) -> None:
    facts.fact_approve(principal, fact_id)
    facts.fact_set_visibility(principal, fact_id, LegacyFact.Visibility.SHARED)


def _hide(content: DemoContent, principal: Principal, fact_id: UUID, decision: DemoDecision) -> None:
    _share(content, principal, fact_id, decision)
    staff = principal_for_staff(User.objects.get(username=content.staff.name))
    facts.fact_hide(staff, fact_id, decision.reason)


_DECISIONS: dict[str, Callable[[DemoContent, Principal, UUID, DemoDecision], object]] = {
    "approve": lambda content, principal, fact_id, decision: facts.fact_approve(principal, fact_id),
    "share": _share,
    "reword": lambda content, principal, fact_id, decision: facts.fact_edit(
        principal, fact_id, content=decision.content
    ),
    "reject": lambda content, principal, fact_id, decision: facts.fact_reject(principal, fact_id),
    # As a bulk decision, which keeps the source words: other demo facts cite them.
    "delete": lambda content, principal, fact_id, decision: facts.facts_decide(principal, {fact_id: None}, "delete"),
    "hide": _hide,
}
