"""Rows for tests. Messages, facts and memories are made by their rooms' own actions: counts and revs are right."""

import secrets
from dataclasses import replace

import factory
from django.db import transaction
from django.utils import timezone
from factory.django import DjangoModelFactory

from accounts import policy, queries
from accounts.models import Agent, AgentKey, ExternalIdentity, Grant, Legacy, Member, Preferences, User
from assistant.models import Reply
from conversations.models import Conversation, Message
from facts.actions.single import fact_write
from facts.models import LegacyFact
from journal.models import JobRun, Ledger, OperationEvent
from memories.models import Memory, Webhook, WebhookDelivery
from statements.actions import purging


class UserFactory(DjangoModelFactory):
    """A person who can't sign in with a password, unless ``password`` is given."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    password = None

    @classmethod
    def _create(cls, model_class, *args, password=None, **kwargs):
        user = model_class(*args, **kwargs)
        user.set_password(password)
        user.save(force_insert=True)
        return user


class PreferencesFactory(DjangoModelFactory):
    class Meta:
        model = Preferences

    user = factory.SubFactory(UserFactory)


class ExternalIdentityFactory(DjangoModelFactory):
    class Meta:
        model = ExternalIdentity

    user = factory.SubFactory(UserFactory)
    issuer = "backend"
    external_id = factory.Sequence(str)


class AgentFactory(DjangoModelFactory):
    class Meta:
        model = Agent

    name = factory.Sequence(lambda n: f"agent{n}")
    owner = factory.SubFactory(UserFactory)
    issuer = factory.LazyAttribute(lambda agent: f"agent:{agent.name}")

    class Params:
        service = factory.Trait(kind=Agent.Kind.SERVICE)


class AgentKeyFactory(DjangoModelFactory):
    """A key; ``key.credential`` is what a request sends."""

    class Meta:
        model = AgentKey

    agent = factory.SubFactory(AgentFactory)
    scopes = ["read", "write"]

    @classmethod
    def _create(cls, model_class, *args, **kwargs):
        secret = secrets.token_urlsafe(32)
        public = kwargs.pop("public", secrets.token_hex(6))
        key = model_class(*args, public=public, secret_hmac=policy.fingerprint(policy.AGENT_KEY, secret), **kwargs)
        key.save(force_insert=True)
        key.credential = f"ks_{public}.{secret}"
        return key


class GrantFactory(DjangoModelFactory):
    class Meta:
        model = Grant

    user = factory.SubFactory(UserFactory)
    agent = factory.SubFactory(AgentFactory)


class WebhookFactory(DjangoModelFactory):
    class Meta:
        model = Webhook

    user = factory.SubFactory(UserFactory)
    agent = factory.SubFactory(AgentFactory, owner=factory.SelfAttribute("..user"))
    url = factory.Sequence("https://agent.example/{}".format)
    reached = 0


class DeliveryFactory(DjangoModelFactory):
    class Meta:
        model = WebhookDelivery

    webhook = factory.SubFactory(WebhookFactory)
    after = factory.Sequence(int)
    attempts = 12
    status_code = 500
    error = "status"
    ended_at = factory.LazyAttribute(lambda made: None if made.state == "waiting" else timezone.now())

    @factory.lazy_attribute
    def upto(self):
        return self.after + 1


class MemberFactory(DjangoModelFactory):
    class Meta:
        model = Member

    legacy = factory.SubFactory("tests.factories.LegacyFactory", owner=None)
    user = factory.SubFactory(UserFactory)


class LegacyFactory(DjangoModelFactory):
    """A legacy with an owner (made, given, or none with ``owner=None``) and ``members``."""

    class Meta:
        model = Legacy

    name = factory.Sequence(lambda n: f"Grandmother {n}")

    @classmethod
    def _create(cls, model_class, *args, owner=..., members=(), **kwargs):
        legacy = super()._create(model_class, *args, **kwargs)
        if owner is not None:
            user = UserFactory() if owner is ... else owner
            Member.objects.create(legacy=legacy, user=user, role=Member.Role.OWNER)
        for user in members:
            Member.objects.create(legacy=legacy, user=user)
        return legacy


class ConversationFactory(DjangoModelFactory):
    """A conversation of ``user``, with ``legacy`` (the user has to be a member) or without."""

    class Meta:
        model = Conversation

    user = factory.SubFactory(UserFactory)
    seen_rev = factory.LazyAttribute(lambda talk: Ledger.objects.values_list("rev", flat=True).get(pk=talk.user.pk))


class MessageFactory(DjangoModelFactory):
    """The next message of a conversation, appended as its person."""

    class Meta:
        model = Message

    conversation = factory.SubFactory(ConversationFactory)
    role = "user"
    content = factory.Sequence(lambda n: f"She planted {n + 2} apple trees behind the house.")

    @classmethod
    def _create(cls, model_class, *args, conversation, **kwargs):
        from conversations.actions import NewMessage, messages_append

        principal = queries.principal_for_person(conversation.user_id)
        (message,) = messages_append(principal, conversation.pk, [NewMessage(**kwargs)])
        conversation.refresh_from_db()
        return message


class ReplyFactory(DjangoModelFactory):
    """A reply to ``message`` that was lost, and can be tried again if that is the last one."""

    class Meta:
        model = Reply
        exclude = ["message"]

    message = factory.SubFactory(MessageFactory)
    user = factory.SelfAttribute("message.user")
    conversation = factory.SelfAttribute("message.conversation")
    message_index = factory.SelfAttribute("message.index")
    mode, uses_tools, model, state, error_code = "agent", True, "none", "failed", "lost"
    lease_until = factory.LazyFunction(timezone.now)
    ended_at = factory.LazyFunction(timezone.now)


class LegacyFactFactory(DjangoModelFactory):
    """A fact that ``user`` added to a legacy they are a member of."""

    class Meta:
        model = LegacyFact

    legacy = factory.SubFactory(LegacyFactory)
    user = factory.LazyAttribute(lambda fact: fact.legacy.memberships.get(role="owner").user)
    content = factory.Sequence(lambda n: f"She kept {n + 2} bee hives.")
    category = LegacyFact.Category.HOBBY
    visibility = LegacyFact.Visibility.PRIVATE

    @classmethod
    def _create(cls, model_class, *args, user, legacy, **kwargs):
        from facts.actions import fact_add

        return fact_add(queries.principal_for_person(user.pk), legacy.pk, **kwargs)


class MemoryFactory(DjangoModelFactory):
    """A memory that ``user`` worded, or ``agent`` for them. ``principal`` is built unless it is given."""

    class Meta:
        model = Memory

    user = factory.SubFactory(UserFactory)
    content = factory.Sequence(lambda n: f"The user keeps {n + 2} hens.")
    category = "context"

    @classmethod
    def _create(cls, model_class, *args, user, agent=None, principal=None, **kwargs):
        from memories.actions import memory_add
        from memories.records import NewMemory

        principal = principal or (agent_principal(agent, user) if agent else queries.principal_for_person(user.pk))
        return memory_add(principal, NewMemory(**kwargs), insist=True).memory


def erase(rows):
    """Delete rows for good, as a purge does, with the versions that nothing else may delete."""
    with transaction.atomic(), purging():
        rows.delete()


def agent_principal(agent, user=None, *, scopes=("read", "write"), **values):
    """What an agent's key with these scopes stands for, acting for its owner or, as a service, for ``user``."""
    person = queries.principal_for_person((user or agent.owner).pk)
    categories, sources = policy.what_agent_sees(agent.role, None, None)
    return replace(
        person,
        kind="agent",
        actor_id=str(agent.pk),
        agent_id=agent.pk,
        agent_name=agent.name,
        scopes=frozenset(scopes),
        service=agent.kind == Agent.Kind.SERVICE,
        role=agent.role,
        **{"categories": categories, "sources": sources, **values},
    )


class JobRunFactory(DjangoModelFactory):
    class Meta:
        model = JobRun

    kind = "summarize"
    subject_id = factory.Sequence(str)


class OperationEventFactory(DjangoModelFactory):
    class Meta:
        model = OperationEvent

    node = "extract"
    op = "summarize"
    status = OperationEvent.Status.OK


def rev_of(owner):
    """The revision of a person's or legacy's ledger as it is now."""
    return Ledger.objects.values_list("rev", flat=True).get(pk=owner.pk)


def fact_waits(principal, fact_id, *, proposed=False):
    """Let a present fact wait for review: active, or in no prompt."""
    with fact_write(principal, fact_id) as change:
        if proposed:
            change.leave(LegacyFact.State.PROPOSED, reason="")
        else:
            change.activate(reviewed=False)
            change.unshare()
        change.fact.reviewed_at = None
        change.log("RESTORE", waits=True)
