"""What this room's tables hold of a person, and what Django keeps of one. ``journal.holdings`` says what is meant."""

from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q

from journal.holdings import Holding

from .models import (
    Agent,
    AgentKey,
    ExternalIdentity,
    Grant,
    Legacy,
    LinkAttempts,
    LinkCode,
    Member,
    Preferences,
    User,
)

_THEIR_CHATS = ExternalIdentity.objects.filter(issuer=OuterRef("issuer"), external_id=OuterRef("external_id"))

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
    # A name elsewhere has to be shown to be one's own: an export is no proof of it.
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
    Holding(model=Legacy, kind="legacies", owner="memberships__user_id", words={"name": ""}),
    Holding(model=Member, kind="memberships", owner="user_id", terms=("role",)),
    # What staff did to the person's rows, and what the person did as staff.
    Holding(
        model=LogEntry,
        theirs=lambda user_id: Q(user_id=user_id) | Q(object_id=str(user_id)),
        words={"object_id": "", "object_repr": "", "change_message": ""},
    ),
    # A session says whose it is in a signed text: they are found by reading them, and all of a person's end at once.
    Holding(model=Session, secret=("session_key", "session_data")),
)
