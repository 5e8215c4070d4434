"""Shapes of erasures over REST."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop
from rest_framework import serializers

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
    gettext_noop("What other members of a legacy said or wrote themselves."),
    gettext_noop(
        "Of what was erased a keyed fingerprint stays while the account does, which refuses the same words and nothing "
        "similar."
    ),
)


class EraseSerializer(ExactSerializer):
    """What is to be erased."""

    scope = serializers.ChoiceField(choices=SCOPES)
    id = serializers.CharField(
        required=False,
        default="",
        max_length=36,
        help_text="What of it; of a membership the legacy. Left out with the scope everything.",
    )
    confirm = serializers.BooleanField(help_text="True: this can't be undone.")
    grace_hours = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=LONGEST_GRACE_HOURS,
        help_text="So long it waits, and can be taken back with DELETE erase/{receipt}/.",
    )

    def validate_confirm(self, confirm: bool) -> bool:
        """Nothing is erased by accident."""
        if not confirm:
            raise serializers.ValidationError("Say true to erase.")
        return confirm

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        """Everything has no id, and everything else has one."""
        if bool(body["id"]) == (body["scope"] == "everything"):
            raise serializers.ValidationError({"id": "Name what is to be erased, but for everything."})
        return body


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
