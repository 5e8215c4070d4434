"""The certificate authorities that servers are trusted by."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def certificates() -> ssl.SSLContext:
    """Return the trusted authorities. Cached, because reading them takes 30 ms, longer than a call."""
    return httpx2.create_ssl_context()
