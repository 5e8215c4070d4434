"""Declarations of personal data in this room's tables and in Django's own; see ``journal.holdings``."""

from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, QuerySet

from journal.holdings import Holding

from .models import (
    Agent,
    AgentKey,
    ExternalIdentity,
    Grant,
    Invitation,
    InvitationBlock,
    Legacy,
    LegacyEnding,
    LegacyPicture,
    LinkAttempts,
    LinkCode,
    Member,
    Preferences,
    User,
)
from .policy import LOCAL_ISSUER

_THEIR_NAMES = ExternalIdentity.objects.filter(issuer=OuterRef("issuer"), external_id=OuterRef("name"))
_THEIR_CHATS = ExternalIdentity.objects.filter(issuer=OuterRef("issuer"), external_id=OuterRef("external_id"))


def _kept_by(user_id: UUID) -> QuerySet[Member, UUID]:
    return Member.objects.filter(user_id=user_id).values_list("legacy_id", flat=True)


def _spoken_of(user_id: UUID) -> QuerySet[Legacy, UUID]:
    """Return the ids of legacies that a person has facts or conversations about."""
    return Legacy.objects.filter(Q(facts__user_id=user_id) | Q(conversations__user_id=user_id)).values_list(
        "pk", flat=True
    )


HOLDINGS = (
    Holding(
        model=User,
        kind="person",
        owner="id",
        words={"username": "", "display_name": "", "email": ""},
        secret=("password",),
        restored=False,
    ),
    Holding(
        model=Preferences,
        kind="preferences",
        owner="user_id",
        terms=("review", "time_zone", "language"),
    ),
    # Not restored: an export does not prove that an external name is the person's.
    Holding(
        model=ExternalIdentity,
        kind="identities",
        owner="user_id",
        words={"external_id": ""},
        terms=("issuer",),
        restored=False,
    ),
    Holding(model=LinkCode, owner="user_id", terms=("issuer",), secret=("code_hmac",)),
    Holding(
        model=LinkAttempts,
        theirs=lambda user_id: Q(Exists(_THEIR_CHATS.filter(user_id=user_id))),
        words={"external_id": ""},
        terms=("issuer",),
    ),
    Holding(
        model=Agent,
        kind="agents",
        owner="owner_id",
        words={"name": ""},
        terms=("kind", "role", "issuer"),
    ),
    Holding(
        model=AgentKey,
        kind="agent_keys",
        owner="agent__owner_id",
        terms=("public", "scopes"),
        secret=("secret_hmac",),
        restored=False,
    ),
    Holding(model=Grant, kind="grants", owner="user_id", terms=("categories", "sources")),
    # Including legacies that the person has left, where they may still have facts.
    Holding(
        model=Legacy,
        kind="legacies",
        theirs=lambda user_id: Q(pk__in=_spoken_of(user_id)) | Q(pk__in=_kept_by(user_id)),
        words={"name": ""},
    ),
    Holding(model=LegacyEnding, owner="ended_by_id"),
    # Not restored: only pictures encoded by this server are served.
    Holding(model=LegacyPicture, kind="legacy_pictures", owner="added_by_id", words={"content": b""}, restored=False),
    Holding(model=Member, kind="memberships", owner="user_id", terms=("role",)),
    # Invitations that the person sent or answered, and those addressed to a name of theirs.
    Holding(
        model=Invitation,
        theirs=lambda user_id: (
            Q(inviter_id=user_id)
            | Q(answered_by_id=user_id)
            | Q(issuer=LOCAL_ISSUER, name__in=User.objects.filter(pk=user_id).values("username"))
            | Q(Exists(_THEIR_NAMES.filter(user_id=user_id)))
        ),
        words={"name": ""},
        terms=("role", "issuer", "state"),
        secret=("code_hmac",),
    ),
    Holding(model=InvitationBlock, owner="user_id"),
    # Entries about the person's rows, and of what the person did as staff.
    Holding(
        model=LogEntry,
        theirs=lambda user_id: Q(user_id=user_id) | Q(object_id=str(user_id)),
        words={"object_id": "", "object_repr": "", "change_message": ""},
    ),
    # A session holds its owner in a signed text, so erasure decodes sessions to find a person's.
    Holding(model=Session, secret=("session_key", "session_data")),
)
