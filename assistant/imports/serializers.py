"""Shapes of imports over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.imports import EXPORTS
from conversations.models import ConversationImport
from web.json import ExactSerializer

from ..serializers import progress_of


class UploadSerializer(ExactSerializer):
    """A file with a person's history, and what to do with it."""

    file = serializers.FileField(help_text="The export as it came, zip or JSON, or JSON Lines.")
    legacy = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Whom the conversations are about, if anybody."
    )
    title = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    format = serializers.ChoiceField(
        choices=EXPORTS, required=False, allow_blank=True, default="", help_text="Found out when it is left out."
    )


class SurveySerializer(serializers.Serializer[Any]):
    """What the file holds; ``skipped`` counts by reason what of it is not imported."""

    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    memories = serializers.IntegerField(required=False, help_text="Of a file that holds memories.")
    skipped = serializers.DictField(child=serializers.IntegerField())


class ImportSerializer(serializers.ModelSerializer[ConversationImport]):
    """An import: what was in the file, what became of it, and the job that does the work."""

    format = serializers.CharField(source="form")
    survey = serializers.SerializerMethodField()
    outcome = serializers.DictField(child=serializers.IntegerField())
    notes = serializers.ListField(child=serializers.CharField())
    job = serializers.UUIDField(source="job_id", allow_null=True, help_text="The latest one: GET jobs/{id}/.")
    progress = serializers.SerializerMethodField()

    class Meta:
        model = ConversationImport
        fields = [
            "id",
            "legacy",
            "title",
            "file_name",
            "format",
            "size",
            "state",
            "progress",
            "survey",
            "outcome",
            "notes",
            "error",
            "job",
            "created_at",
            "ended_at",
        ]

    @extend_schema_field(SurveySerializer(allow_null=True))
    def get_survey(self, upload: ConversationImport) -> Any:
        """Null until the whole file was read."""
        return upload.survey or None

    def get_progress(self, upload: Any) -> float | None:
        """How far the present stage is, from 0 to 1; null when that is not known."""
        return progress_of(upload.job_done, upload.job_total)
