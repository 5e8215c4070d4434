"""Shapes of exports over REST."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ExportSerializer(serializers.Serializer[Any]):
    """An export that a job writes."""

    job = serializers.UUIDField(source="pk", help_text="GET jobs/{id}/ says how far it is.")
    file = serializers.HyperlinkedIdentityField(
        view_name="api-export-file", lookup_url_kwarg="job_id", help_text="Where the file is, once the job is done."
    )
