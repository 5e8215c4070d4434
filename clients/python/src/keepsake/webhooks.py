"""Verification of webhook signatures, for servers that receive webhooks from Keepsake."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping


class NotSigned(ValueError):
    """The message is not signed with this secret, or its timestamp is outside the window."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, window: int = 300) -> None:
    """Raise NotSigned unless Keepsake signed this body, as raw bytes, within ``window`` seconds of now.

    Of ``headers`` it reads ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``, in any case. It follows the
    Standard Webhooks specification.
    """
    told = {name.lower(): value for name, value in headers.items()}
    message, sent_at = told.get("webhook-id", ""), told.get("webhook-timestamp", "")
    # Thousands of digits would be more than ``int`` reads.
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) < 20) or abs(time.time() - int(sent_at)) > window:
        raise NotSigned("too old, or from the future")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = base64.b64encode(digest)
    given = [each[3:].encode() for each in told.get("webhook-signature", "").split() if each.startswith("v1,")]
    # All signatures are compared, in constant time, so that the time taken reveals nothing.
    if not sum(hmac.compare_digest(expected, each) for each in given):
        raise NotSigned("not signed with this secret")
