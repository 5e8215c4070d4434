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
    """A legacy that the person ended, and the moment up to which they can bring it back."""

    id = serializers.UUIDField(source="legacy_id", read_only=True)
    name = serializers.CharField(source="legacy.name", read_only=True)
    until = serializers.DateTimeField(read_only=True)

    class Meta:
        model = LegacyEnding
        fields = ["id", "name", "ended_at", "until"]


class PictureSerializer(ExactSerializer):
    """A photograph of whom a legacy is about."""

    picture = serializers.FileField(help_text="JPEG, PNG or WebP.")


class NewLegacySerializer(ExactSerializer):
    """A legacy to make. Members are named as X-Keepsake-User names people; each is invited."""

    name = serializers.CharField(max_length=200)
    members = serializers.ListField(
        child=serializers.CharField(max_length=255),
        max_length=policy.MEMBERS_PER_REQUEST,
        required=False,
        default=list,
    )


class MemberSerializer(serializers.ModelSerializer[Member]):
    """Somebody who keeps a legacy; ``me`` marks the caller."""

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
    """Somebody to invite. Without a name it is whoever uses the link first."""

    name = serializers.CharField(max_length=255, required=False, default="")
    role = serializers.ChoiceField(choices=Member.Role.choices, default=Member.Role.MEMBER)


class MadeInvitationSerializer(serializers.Serializer[Any]):
    """An invitation just made. Code and link are shown this once; a repeated request shows null."""

    code = serializers.CharField(allow_null=True)
    link = serializers.URLField(allow_null=True, help_text="The page on which it is answered.")
    name = serializers.CharField(allow_null=True, help_text="Whom it is for; null: whoever uses it first.")


class InvitedSerializer(serializers.Serializer[Any]):
    """The answer to an invitation of somebody, whether there is anybody of that name or not."""

    invitation = MadeInvitationSerializer()


class MadeLegacySerializer(LegacySerializer):
    """A legacy just made, with the invitations of those who were named."""

    invitations = MadeInvitationSerializer(many=True, read_only=True)

    class Meta(LegacySerializer.Meta):
        fields = [*LegacySerializer.Meta.fields, "invitations"]


class SentInvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An outstanding invitation, as owners see it. Nothing tells whether it was seen or declined."""

    name = serializers.SerializerMethodField()
    invited_by = serializers.CharField(source="inviter.get_full_name", read_only=True)

    class Meta:
        model = Invitation
        fields = ["id", "name", "role", "invited_by", "created_at", "expires_at"]

    def get_name(self, invitation: Invitation) -> str | None:
        """Whom it is for, in the normal form of names; null: whoever uses the link first."""
        return invitation.name or None


class WaitingInvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation that waits for the person. ``legacy`` and ``invited_by`` are what other people wrote."""

    legacy = serializers.CharField(source="legacy.name", read_only=True)
    invited_by = serializers.CharField(source="inviter.get_full_name", read_only=True)

    class Meta:
        model = Invitation
        fields = ["id", "legacy", "role", "invited_by", "created_at", "expires_at"]


class AnsweredSerializer(serializers.Serializer[Any]):
    """What came of an answer; the legacy when it was accepted."""

    outcome = serializers.ChoiceField(choices=["accepted", "declined", "blocked"])
    legacy = LegacySerializer(allow_null=True)


class BlockSerializer(serializers.ModelSerializer[InvitationBlock]):
    """Whose invitations the person does not get, nor others to the same legacy. The name is null once they are gone."""

    invited_by = serializers.SerializerMethodField()

    class Meta:
        model = InvitationBlock
        fields = ["id", "invited_by", "created_at"]

    def get_invited_by(self, block: InvitationBlock) -> str | None:
        """The name that they use."""
        return block.inviter.get_full_name() if block.inviter else None


class MemberRoleSerializer(ExactSerializer):
    """The role that a member gets."""

    role = serializers.ChoiceField(choices=Member.Role.choices)


class PreferencesSerializer(ExactSerializer, serializers.ModelSerializer[Preferences]):
    """What a person prefers. ``extract_each_message`` null leaves it to what the conversation is for.

    ``recall_record`` says whether agents are quoted what was said in other conversations; null: yes where they review
    after, no where they review before. ``display_name`` is what pages, members of their legacies and prompts call them;
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
    """A key to make."""

    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES),
        allow_empty=False,
        max_length=len(SCOPES),
        default=lambda: ["read", "write"],
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class MadeAgentKeySerializer(AgentKeySerializer):
    """A key just made. ``credential`` is shown this once; a repeated request shows null."""

    credential = serializers.CharField(allow_null=True, read_only=True)

    class Meta(AgentKeySerializer.Meta):
        fields = [*AgentKeySerializer.Meta.fields, "credential"]


class AgentSerializer(ExactSerializer, serializers.ModelSerializer[Agent]):
    """An agent that acts for the person: their own, with its keys in force, or a service that they let in."""

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
    """What the person lets an agent see; null is all that its role has, ``revoked`` keeps it out altogether."""

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
        help_text="What it may read beside memories; null: all that its role has.",
    )
    revoked = serializers.BooleanField(required=False, help_text="True keeps it out altogether.")

    class Meta:
        model = Grant
        fields = ["agent", "categories", "sources", "revoked"]
        read_only_fields = ["agent"]
