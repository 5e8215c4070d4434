"""JSON out, by orjson."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.utils.functional import Promise
from rest_framework.renderers import JSONRenderer


def _plain(value: Any) -> Any:
    """What orjson does not know by itself: Django's lazy strings, DRF's result types, decimals."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, str):
        return str.__str__(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__iter__"):
        return list(value)
    return str(value)


class OrjsonRenderer(JSONRenderer):
    """DRF's JSON renderer with the encoder exchanged: five to ten times faster on lists."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Encode ``data`` as UTF-8 JSON."""
        return b"" if data is None else orjson.dumps(data, default=_plain, option=orjson.OPT_NON_STR_KEYS)
