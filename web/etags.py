"""ETags: conditional GETs by If-None-Match, and optimistic locking by If-Match."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from journal.exceptions import Refused

from .json import encoded

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag as the caller saw it. A newer version answers 409.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag that the caller has. What still reads so answers 304, without a body.",
)

_VERSIONED = re.compile(r'(?:W/)?"(\d{1,9})(?:-[0-9a-f]+)?"')


def with_etag(data: Any, *, version: int | None = None, status: int = 200) -> Response:
    """Create a response with its ETag: the version, which If-Match is compared with, and a hash of the body."""
    shown = _hash(data)
    return Response(data, status=status, headers={"ETag": f'"{shown}"' if version is None else f'"{version}-{shown}"'})


def with_weak_etag(data: Mapping[str, Any], *, besides: str) -> Response:
    """Create a response with an ETag of the body without one of its values, which moves while the rest stays."""
    return Response(data, headers={"ETag": f'W/"{_hash({**data, besides: None})}"'})


def not_modified_or(request: Request, answer: Response) -> Response:
    """Return the response to a GET, or 304 if If-None-Match contains its ETag."""
    known = {tag.removeprefix("W/") for tag in parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))}
    if known & {answer["ETag"].removeprefix("W/"), "*"}:
        return Response(status=304, headers={"ETag": answer["ETag"]})
    return answer


def seen_version(request: Request) -> int | None:
    """Return the version in If-Match; None without the header and for ``*``. Raises Refused (400) for other values."""
    sent = request.META.get("HTTP_IF_MATCH", "").strip()
    if sent in {"", "*"}:
        return None
    match = _VERSIONED.fullmatch(sent)
    if match is None:
        raise Refused("If-Match takes the ETag of what is to be changed.", code="bad_if_match")
    return int(match[1])


def _hash(data: Any) -> str:
    return hashlib.sha256(encoded(data, str)).hexdigest()[:16]
