"""Tables of people, their external names, agents, keys, grants, legacies, members and invitations."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .policy import TELEGRAM_ISSUER, normal_name
from .querysets import (
    AgentKeyQuerySet,
    AgentQuerySet,
    ExternalIdentityQuerySet,
    InvitationBlockQuerySet,
    InvitationQuerySet,
    LegacyEndingQuerySet,
    LegacyPictureQuerySet,
    LegacyQuerySet,
    MemberQuerySet,
)


class People(UserManager["User"]):
    """The manager of User, which looks up normalised user names."""

    use_in_migrations = False

    def get_by_natural_key(self, username: str | None) -> User:
        """Return the person with that user name, ignoring case and character width."""
        return super().get_by_natural_key(normal_name(username or ""))


class User(AbstractUser):
    """A person. Their ledger has the same id, and is created by a trigger."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    display_name = models.CharField(max_length=100, blank=True)

    objects: ClassVar[People] = People()

    class Meta:
        ordering = ["username"]

    @classmethod
    def normalize_username(cls, username: str) -> str:
        """Normalise a user name for forms and Django's commands."""
        return normal_name(username)

    def get_full_name(self) -> str:
        """Return the name for pages and prompts."""
        return self.display_name or self.username

    def get_short_name(self) -> str:
        """Return the first word of the name."""
        return self.get_full_name().split()[0]


class Preferences(models.Model):
    """A person's preferences about their memory. Without a row, the defaults apply."""

    class Review(models.TextChoices):
        AFTER = "after", "agents may use it at once, I review later"
        BEFORE = "before", "nothing is used before I approve it"

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True)
    has_memory = models.BooleanField(default=True)
    agentic_memory = models.BooleanField(default=True)
    review = models.CharField(max_length=6, choices=Review.choices, default=Review.AFTER)
    extract_each_message = models.BooleanField(null=True)
    # Whether agents may read earlier conversations; null: yes if ``review`` is after, no if before.
    recall_record = models.BooleanField(null=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    language = models.CharField(max_length=16, blank=True)
    # Incremented by each change, so that a stale page can't overwrite a newer value.
    version = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name_plural = "preferences"
        constraints = [
            models.CheckConstraint(condition=Q(review__in=["after", "before"]), name="preferences_review_known")
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class ExternalIdentity(models.Model):
    """Another system's name for a person. Names are unique per issuer, since "42" of two backends are two people."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=100)
    external_id = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ExternalIdentityQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "external identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "external_id"], name="identity_once_per_issuer"),
            models.CheckConstraint(condition=~Q(issuer="") & ~Q(external_id=""), name="identity_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.issuer}:{self.external_id}"


class LinkCode(models.Model):
    """A short-lived code that a person sends from a chat to link it. One code per person, for one chat.

    Only a keyed fingerprint is stored. A used code stays until the next one is created, so that a repeated message of
    its chat gets the same answer.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="link_code")
    issuer = models.CharField(max_length=100)
    code_hmac = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"link code of {self.user_id}"


class LinkAttempts(models.Model):
    """Counts the codes that an unlinked chat has tried, against brute force."""

    issuer = models.CharField(max_length=100)
    external_id = models.CharField(max_length=255)
    begun_at = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "link attempts"
        constraints = [models.UniqueConstraint(fields=["issuer", "external_id"], name="link_attempts_once_per_chat")]
        indexes = [models.Index(fields=["begun_at"], name="link_attempts_by_time")]

    def __str__(self) -> str:
        return f"{self.count} attempts since {self.begun_at:%Y-%m-%d %H:%M}"


class Agent(models.Model):
    """A program that reads and writes memory: a personal one for its owner, a service for the people it names."""

    class Kind(models.TextChoices):
        PERSONAL = "personal"
        SERVICE = "service"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.PERSONAL)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="agents")
    role = models.CharField(max_length=40, blank=True)
    issuer = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)

    objects = AgentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="agent_name_once_per_owner"),
            models.CheckConstraint(condition=Q(kind__in=["personal", "service"]), name="agent_kind_known"),
            models.CheckConstraint(condition=~Q(issuer="") & ~Q(name=""), name="agent_named"),
            # People link their chats themselves; an agent with this issuer could act for all of them.
            models.CheckConstraint(condition=~Q(issuer=TELEGRAM_ISSUER), name="agent_issuer_not_of_chats"),
        ]

    def __str__(self) -> str:
        return self.name


class AgentKey(models.Model):
    """A credential of an agent. The secret is shown once; only its HMAC is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="keys")
    public = models.CharField(max_length=16, unique=True)
    secret_hmac = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=10))
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = AgentKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=["read", "write", "admin"]) & Q(scopes__len__gt=0),
                name="agent_key_scopes_known",
            ),
        ]

    def __str__(self) -> str:
        return f"ks_{self.public}"


class Grant(models.Model):
    """What a person allows one agent to read. ``None`` means everything that the agent's role allows."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="grants")
    categories = ArrayField(models.CharField(max_length=50), null=True, blank=True)
    sources = ArrayField(models.CharField(max_length=10), null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "agent"], name="grant_once_per_agent"),
            models.CheckConstraint(
                condition=Q(sources__isnull=True) | Q(sources__contained_by=["chunks", "turns", "facts"]),
                name="grant_sources_known",
            ),
        ]

    def __str__(self) -> str:
        return f"grant of {self.user_id} to {self.agent_id}"

    @property
    def revoked(self) -> bool:
        """Whether the agent has no access at all."""
        return self.revoked_at is not None


class Legacy(models.Model):
    """A person who is memorialised. The legacy's ledger has the same id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    members = models.ManyToManyField(User, through="Member", related_name="legacies")
    created_at = models.DateTimeField(default=timezone.now)

    objects = LegacyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "legacies"
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="legacy_named")]

    def __str__(self) -> str:
        return f"legacy {self.id}"


class Member(models.Model):
    """A person's membership of a legacy."""

    class Role(models.TextChoices):
        OWNER = "owner"
        MEMBER = "member"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)
    joined_at = models.DateTimeField(default=timezone.now)

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["legacy", "user"], name="member_once_per_legacy"),
            models.CheckConstraint(condition=Q(role__in=["owner", "member"]), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id} of {self.legacy_id}"


class LegacyEnding(models.Model):
    """A legacy that its owner has ended. It has no members, and can be restored until it is purged."""

    legacy = models.OneToOneField(Legacy, on_delete=models.CASCADE, primary_key=True, related_name="ending")
    ended_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    ended_at = models.DateTimeField()

    objects = LegacyEndingQuerySet.as_manager()

    def __str__(self) -> str:
        return f"end of {self.legacy_id}"

    @property
    def until(self) -> datetime:
        """The time until which it can be restored."""
        return self.ended_at + timedelta(days=settings.ARCHIVE_DAYS)


class LegacyPicture(models.Model):
    """The picture of a legacy, re-encoded as WebP, at most ``PICTURE_PIXELS`` a side."""

    legacy = models.OneToOneField(Legacy, on_delete=models.CASCADE, primary_key=True, related_name="picture")
    added_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    content = models.BinaryField()
    added_at = models.DateTimeField(default=timezone.now)

    objects = LegacyPictureQuerySet.as_manager()

    def __str__(self) -> str:
        return f"picture of {self.legacy_id}"


class Invitation(models.Model):
    """An owner's invitation of a person to a legacy. It gives no access before it is accepted.

    ``issuer`` and ``name`` name the person as X-Keepsake-User does; without a name, the first to use the link can
    accept. No user is looked up, so unknown names look the same. Only a keyed fingerprint of the code is stored. Owners
    see a declined invitation as unanswered.
    """

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        REVOKED = "revoked"

    OUTSTANDING = ("open", "declined")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, related_name="invitations")
    inviter = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations_sent")
    role = models.CharField(max_length=10, choices=Member.Role.choices, default=Member.Role.MEMBER)
    issuer = models.CharField(max_length=100, blank=True)
    name = models.CharField(max_length=255, blank=True)
    code_hmac = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    answered_by = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="invitations_answered")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["legacy", "issuer", "name"],
                condition=Q(state__in=["open", "declined"]) & ~Q(name=""),
                name="invitation_outstanding_once_per_name",
            ),
            models.CheckConstraint(condition=Q(role__in=["owner", "member"]), name="invitation_role_known"),
            models.CheckConstraint(
                condition=Q(name="", issuer="") | (~Q(name="") & ~Q(issuer="")), name="invitation_name_with_issuer"
            ),
            models.CheckConstraint(
                condition=Q(state="open", answered_by__isnull=True, ended_at__isnull=True)
                | Q(state__in=["accepted", "declined"], answered_by__isnull=False, ended_at__isnull=False)
                | Q(state="revoked", ended_at__isnull=False),
                name="invitation_ended_by_somebody",
            ),
        ]
        indexes = [
            models.Index(fields=["name", "issuer"], condition=Q(state="open"), name="invitation_open_by_name"),
        ]

    def __str__(self) -> str:
        return f"{self.state} invitation to {self.legacy_id}"


class InvitationBlock(models.Model):
    """A person's block of invitations to a legacy, and of invitations by its inviter."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitation_blocks")
    legacy = models.ForeignKey(Legacy, on_delete=models.SET_NULL, null=True, related_name="+")
    inviter = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = InvitationBlockQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "legacy", "inviter"], name="invitation_block_once"),
        ]

    def __str__(self) -> str:
        return f"invitation block of {self.user_id}"
