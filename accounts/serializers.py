"""Serializers of legacies, members, preferences, agents, keys and grants."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from web.json import ExactSerializer

from . import policy
from .models import Agent, AgentKey, Grant, Invitation, InvitationBlock, Legacy, LegacyEnding, Member, Preferences
from .principals import SCOPES, SOURCES


class LegacySerializer(ExactSerializer, serializers.ModelSerializer[Legacy]):
    """A legacy as one of its members sees it; ``role`` is the caller's own."""

    role = serializers.ChoiceField(choices=Member.Role.choices, read_only=True)

    class Meta:
        model = Legacy
        fields = ["id", "name", "role", "created_at"]
        read_only_fields = ["created_at"]


class EndedLegacySerializer(serializers.ModelSerializer[LegacyEnding]):
    """A legacy that the person ended, and the time until which they can restore it."""

    id = serializers.UUIDField(source="legacy_id", read_only=True)
    name = serializers.CharField(source="legacy.name", read_only=True)
    until = serializers.DateTimeField(read_only=True)

    class Meta:
        model = LegacyEnding
        fields = ["id", "name", "ended_at", "until"]


class PictureSerializer(ExactSerializer):
    """A photograph of the memorialised person."""

    picture = serializers.FileField(help_text="JPEG, PNG or WebP.")


class NewLegacySerializer(ExactSerializer):
    """A legacy to create. Members are named as in X-Keepsake-User; each is invited."""

    name = serializers.CharField(max_length=200)
    members = serializers.ListField(
        child=serializers.CharField(max_length=255),
        max_length=policy.MEMBERS_PER_REQUEST,
        required=False,
        default=list,
    )


class MemberSerializer(serializers.ModelSerializer[Member]):
    """A member of a legacy; ``me`` marks the caller."""

    name = serializers.CharField(source="user.get_full_name", read_only=True)
    me = serializers.SerializerMethodField()

    class Meta:
        model = Member
        fields = ["id", "name", "role", "me", "joined_at"]
        read_only_fields = ["joined_at"]

    def get_me(self, member: Member) -> bool:
        """Whether this is the person that the caller acts for."""
        return bool(member.user_id == self.context["principal"].user_id)


class NewMemberSerializer(ExactSerializer):
    """A person to invite. Without a name, the first person to use the link."""

    name = serializers.CharField(max_length=255, required=False, default="")
    role = serializers.ChoiceField(choices=Member.Role.choices, default=Member.Role.MEMBER)


class MadeInvitationSerializer(serializers.Serializer[Any]):
    """A new invitation. Code and link are shown once; a repeated request shows null."""

    code = serializers.CharField(allow_null=True)
    link = serializers.URLField(allow_null=True, help_text="The page for accepting or declining it.")
    name = serializers.CharField(allow_null=True, help_text="The invited name; null: for the first person to use it.")


class InvitedSerializer(serializers.Serializer[Any]):
    """The response to an invitation; it does not reveal whether the name exists."""

    invitation = MadeInvitationSerializer()


class MadeLegacySerializer(LegacySerializer):
    """A new legacy, with the invitations of the named people."""

    invitations = MadeInvitationSerializer(many=True, read_only=True)

    class Meta(LegacySerializer.Meta):
        fields = [*LegacySerializer.Meta.fields, "invitations"]


class SentInvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An outstanding invitation, as owners see it. Whether it was seen or declined is not shown."""

    name = serializers.SerializerMethodField()
    invited_by = serializers.CharField(source="inviter.get_full_name", read_only=True)

    class Meta:
        model = Invitation
        fields = ["id", "name", "role", "invited_by", "created_at", "expires_at"]

    def get_name(self, invitation: Invitation) -> str | None:
        """The invited name in normal form; null: for the first person to use the link."""
        return invitation.name or None


class WaitingInvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation addressed to the person. ``legacy`` and ``invited_by`` are texts by other people."""

    legacy = serializers.CharField(source="legacy.name", read_only=True)
    invited_by = serializers.CharField(source="inviter.get_full_name", read_only=True)

    class Meta:
        model = Invitation
        fields = ["id", "legacy", "role", "invited_by", "created_at", "expires_at"]


class AnsweredSerializer(serializers.Serializer[Any]):
    """The outcome of an answer, with the legacy if it was accepted."""

    outcome = serializers.ChoiceField(choices=["accepted", "declined", "blocked"])
    legacy = LegacySerializer(allow_null=True)


class BlockSerializer(serializers.ModelSerializer[InvitationBlock]):
    """A block of invitations, by sender and legacy. The name is null once the sender's account is deleted."""

    invited_by = serializers.SerializerMethodField()

    class Meta:
        model = InvitationBlock
        fields = ["id", "invited_by", "created_at"]

    def get_invited_by(self, block: InvitationBlock) -> str | None:
        """The sender's name."""
        return block.inviter.get_full_name() if block.inviter else None


class MemberRoleSerializer(ExactSerializer):
    """The role that a member gets."""

    role = serializers.ChoiceField(choices=Member.Role.choices)


class PreferencesSerializer(ExactSerializer, serializers.ModelSerializer[Preferences]):
    """A person's preferences. ``extract_each_message`` null: decided by the conversation's purpose.

    ``recall_record``: whether agents are quoted what was said in other conversations; null: yes if the person reviews
    after, no if before. ``display_name`` is the person's name on pages, for members of their legacies and in prompts;
    empty: their user name.
    """

    display_name = serializers.CharField(source="user.display_name", max_length=100, allow_blank=True, required=False)

    class Meta:
        model = Preferences
        fields = [
            "display_name",
            "has_memory",
            "agentic_memory",
            "review",
            "extract_each_message",
            "recall_record",
            "time_zone",
            "language",
        ]


class AgentKeySerializer(serializers.ModelSerializer[AgentKey]):
    """A key without its secret."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))

    class Meta:
        model = AgentKey
        fields = ["id", "public", "scopes", "expires_at", "revoked_at", "last_used_at", "created_at"]
        read_only_fields = ["public", "revoked_at", "last_used_at", "created_at"]


class NewAgentKeySerializer(ExactSerializer):
    """A key to create."""

    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES),
        allow_empty=False,
        max_length=len(SCOPES),
        default=lambda: ["read", "write"],
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class MadeAgentKeySerializer(AgentKeySerializer):
    """A new key. ``credential`` is shown once; a repeated request shows null."""

    credential = serializers.CharField(allow_null=True, read_only=True)

    class Meta(AgentKeySerializer.Meta):
        fields = [*AgentKeySerializer.Meta.fields, "credential"]


class AgentSerializer(ExactSerializer, serializers.ModelSerializer[Agent]):
    """An agent that acts for the person: their own, with its valid keys, or a service with a grant."""

    mine = serializers.SerializerMethodField()
    keys = AgentKeySerializer(many=True, read_only=True, source="own_keys")

    class Meta:
        model = Agent
        fields = ["id", "name", "kind", "role", "mine", "keys", "created_at"]
        read_only_fields = ["kind", "created_at"]
        extra_kwargs = {"role": {"required": False, "allow_blank": True}}
        # The action checks that the name is unique, under the lock.
        validators: list[Any] = []

    def get_mine(self, agent: Agent) -> bool:
        """Whether the person owns the agent."""
        return bool(agent.owner_id == self.context["principal"].user_id)


class GrantSerializer(ExactSerializer, serializers.ModelSerializer[Grant]):
    """What the person lets an agent see; null is all that its role has, ``revoked`` denies all access."""

    categories = serializers.ListField(
        child=serializers.CharField(max_length=50),
        max_length=200,
        allow_null=True,
        required=False,
        help_text="Categories of memories, or their aliases; null: all that its role has.",
    )
    sources = serializers.ListField(
        child=serializers.ChoiceField(choices=SOURCES),
        max_length=len(SOURCES),
        allow_null=True,
        required=False,
        help_text="What it may read besides memories; null: all that its role has.",
    )
    revoked = serializers.BooleanField(required=False, help_text="True denies all access.")

    class Meta:
        model = Grant
        fields = ["agent", "categories", "sources", "revoked"]
        read_only_fields = ["agent"]
