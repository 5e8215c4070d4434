"""What a server that takes webhooks needs: to know that a message came from Keepsake, and a moment ago."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping


class NotSigned(ValueError):
    """A message that Keepsake did not send with this secret, or not within the window."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, window: int = 300) -> None:
    """Raise NotSigned unless Keepsake sent this body, as its bytes came, within ``window`` seconds of now.

    ``headers`` are those of the request, in whatever letters: ``webhook-id``, ``webhook-timestamp`` and
    ``webhook-signature`` are read. What it does is what the Standard Webhooks specification says.
    """
    told = {name.lower(): value for name, value in headers.items()}
    message, sent_at = told.get("webhook-id", ""), told.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > window:
        raise NotSigned("too old, or from the future")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = base64.b64encode(digest)
    given = [each[3:].encode() for each in told.get("webhook-signature", "").split() if each.startswith("v1,")]
    # In constant time, and every one, so that the time taken tells nothing.
    if not sum(hmac.compare_digest(expected, each) for each in given):
        raise NotSigned("not signed with this secret")
