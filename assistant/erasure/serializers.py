"""Shapes of erasures over REST."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop
from rest_framework import serializers

from conversations.serializers import AlsoSaidSerializer
from journal.models import Erasure
from web.json import ExactSerializer

from .actions import LONGEST_GRACE_HOURS
from .extent import SCOPES

VERIFY = "Whoever runs the server can prove it against the database: manage.py verify_erasure RECEIPT."
NOT_REACHED = (
    gettext_noop(
        "Rows that were deleted stay in the database's files until it vacuums them, and in its log of writes "
        "until that is recycled."
    ),
    gettext_noop("The memory of running programs, for up to ten minutes."),
    gettext_noop("The cache server's log of writes, until the server has rewritten it, which it was asked to do."),
    gettext_noop("Backups hold what they held until they expire."),
    gettext_noop(
        "Copies that agents and clients keep. They are told by their feed of changes, and for 90 days by 410."
    ),
    gettext_noop("States that agents saved to resume from, until their threads or the account are deleted."),
    gettext_noop(
        "The name of an imported file and its counts: they are erased on the page of that import, or with everything."
    ),
    gettext_noop("What other members of a legacy said or wrote themselves."),
    gettext_noop(
        "Of what was erased a keyed fingerprint stays while the account does, which refuses the same words and nothing "
        "similar."
    ),
)


class ErasableSerializer(ExactSerializer):
    """What a preview is of."""

    scope = serializers.ChoiceField(choices=SCOPES, help_text="What would be erased.")
    id = serializers.CharField(
        required=False,
        default="",
        max_length=36,
        help_text="What of it; of a membership the legacy. Left out with the scope everything.",
    )

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Everything has no id, and everything else has one."""
        if bool(asked["id"]) == (asked["scope"] == "everything"):
            raise serializers.ValidationError({"id": "Name what is to be erased, but for everything."})
        return asked


class ErasurePreviewSerializer(serializers.Serializer[Any]):
    """What an erasure would take along, and what says the same and would stay."""

    counts = serializers.DictField(child=serializers.IntegerField(), help_text="How many it includes, by kind.")
    also_said = AlsoSaidSerializer(many=True, source="also", help_text="Name in `also` what of it is to go as well.")


class AlsoErasedSerializer(ExactSerializer):
    """One of `also_said` of the preview."""

    object_type = serializers.ChoiceField(choices=["message", "title", "memory", "fact", "place"])
    object = serializers.CharField(max_length=36)


class EraseSerializer(ErasableSerializer):
    """What is to be erased."""

    also = serializers.ListField(
        child=AlsoErasedSerializer(),
        required=False,
        default=list,
        max_length=100,
        help_text="What else says the same and is erased with it, of `also_said` of the preview: memories, facts and "
        "places as a whole, of messages and titles the words, which are withheld at once.",
    )
    confirm = serializers.BooleanField(help_text="True: this can't be undone.")
    grace_hours = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LONGEST_GRACE_HOURS,
        help_text="So long it waits, and can be taken back with DELETE erase/{receipt}/. Left out, 0, or what an "
        "erasure of it that waits has left.",
    )

    def validate_confirm(self, confirm: bool) -> bool:
        """Nothing is erased by accident."""
        if not confirm:
            raise serializers.ValidationError("Say true to erase.")
        return confirm


class ErasureBegunSerializer(serializers.Serializer[Any]):
    """The receipt under which it can be looked up without signing in, and the job that does it."""

    receipt = serializers.UUIDField()
    job = serializers.UUIDField()


class ReceiptSerializer(serializers.ModelSerializer[Erasure]):
    """What was erased, in numbers."""

    receipt = serializers.UUIDField(source="id")
    removed = serializers.DictField(child=serializers.IntegerField(), help_text="How many, by kind.")
    done = serializers.SerializerMethodField()
    verify = serializers.SerializerMethodField(help_text="How to make sure of it.")
    not_reached = serializers.SerializerMethodField(help_text="What an erasure does not reach.")

    class Meta:
        model = Erasure
        fields = ["receipt", "scope", "state", "removed", "at", "due_at", "done_at", "done", "verify", "not_reached"]

    def get_done(self, erasure: Erasure) -> bool:
        """Whether all of it is gone."""
        return erasure.state == Erasure.State.DONE

    def get_verify(self, erasure: Erasure) -> str:
        """A sentence."""
        return VERIFY

    def get_not_reached(self, erasure: Erasure) -> list[str]:
        """A sentence each."""
        return list(NOT_REACHED)
