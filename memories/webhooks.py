"""How changes are told to an agent's server: which addresses may be called, how a message is signed, how it is sent.

Messages are those of the Standard Webhooks specification, for which many languages have a library.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from uuid import UUID

import httpx2
from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from journal.exceptions import Refused
from language.certificates import certificates
from web.json import OrjsonRenderer

from .models import Webhook, WebhookDelivery

LONGEST_URL = 500
_SECRET = "keepsake.webhook"  # noqa: S105 - what secrets are derived for, not one
_MOST_TRIED = 3
_BOTH_SECRETS = timedelta(days=1)
# Nobody's on the internet either, though some Pythons take them for global: one cloud's metadata is at 192.0.0.192.
_KEPT = tuple(ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20"))
Address = IPv4Address | IPv6Address
Error = WebhookDelivery.Error


# --- Secrets and signatures -----------------------------------------------------------------------------------------


def secret_of(webhook: Webhook) -> str:
    """The secret as the agent's server gets it. It is derived from the SECRET_KEY, so no table holds it."""
    return f"whsec_{base64.b64encode(_secrets(webhook)[0]).decode()}"


def _secrets(webhook: Webhook) -> list[bytes]:
    """That under the current SECRET_KEY and its fallbacks: a receiver knows the one that it was shown.

    For a day after it was rotated, the one before counts too.
    """
    numbers = [webhook.secret_number]
    if webhook.rotated_at is not None and timezone.now() - webhook.rotated_at < _BOTH_SECRETS:
        numbers.append(webhook.secret_number - 1)
    named = [f"{webhook.pk}:{number}" if number else str(webhook.pk) for number in numbers]
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(_SECRET, name, secret=key, algorithm="sha256").digest() for name in named for key in keys]


def signed_headers(webhook: Webhook, delivery_id: UUID, at: int, body: bytes) -> dict[str, str]:
    """The headers by which a receiver knows who sent the body and when (seconds since 1970)."""
    told = b"%b.%d.%b" % (str(delivery_id).encode(), at, body)
    macs = [hmac.new(secret, told, hashlib.sha256).digest() for secret in _secrets(webhook)]
    return {
        "webhook-id": str(delivery_id),
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(mac).decode()}" for mac in macs),
    }


def message_body(webhook: Webhook, delivery: WebhookDelivery, changes: Sequence[object]) -> bytes:
    """What is sent: changes as the feed shows them, and the revision to go on after."""
    told = {
        "type": "changes",
        "webhook": str(webhook.pk),
        "after": delivery.after,
        "next_after": delivery.upto,
        "results": changes,
    }
    return OrjsonRenderer().render(told)


# --- Addresses ------------------------------------------------------------------------------------------------------


def check_url(url: str) -> None:
    """Raise Refused (400 ``bad_url``) for an address that no webhook may have. Names are not looked up here."""
    try:
        read = httpx2.URL(url)
        port = 443 if read.port is None else read.port
        is_sound = bool(read.host) and 0 < port < 65_536
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        is_sound = False
    if not is_sound or len(url) > LONGEST_URL or not url.isprintable() or "#" in url or "\\" in url:
        raise Refused(f"Give a whole address of at most {LONGEST_URL} characters, without a fragment.", code="bad_url")
    if read.scheme != "https" and not (settings.WEBHOOKS_PRIVATE and read.scheme == "http"):
        raise Refused("An address begins with https://.", code="bad_url")
    if read.userinfo:
        raise Refused("An address holds no password: who sends is told by the signature.", code="bad_url")
    literal = _literal(read.host)
    if literal is not None and not is_allowed(literal):
        raise Refused("This address is not on the public internet.", code="private_address")


def _literal(host: str) -> Address | None:
    """The address that a host is, however it is spelled, None for a name: systems take 127.1 and 0x7f000001 too."""
    if host.rstrip(".").endswith("localhost"):
        return IPv4Address("127.0.0.1")
    for read in (ip_address, lambda spelled: IPv4Address(socket.inet_aton(spelled))):
        with suppress(ValueError, OSError):
            return read(host)
    return None


def is_allowed(address: Address) -> bool:
    """Whether deliveries may go to an address: only to public ones, unless ``WEBHOOKS_PRIVATE`` says otherwise."""
    return settings.WEBHOOKS_PRIVATE or _is_public(address)


def _is_public(address: Address) -> bool:
    """Whether an address is somebody's on the internet, and leads nowhere else through a tunnel or a translation."""
    kept = address.is_private or address.is_multicast or address.is_reserved or address.is_unspecified
    if isinstance(address, IPv6Address):
        kept = kept or address.is_site_local or any((address.ipv4_mapped, address.sixtofour, address.teredo))
    return address.is_global and not kept and not any(address in each for each in _KEPT)


# --- Sending --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """How an attempt ended: the status, if there was one, and what went wrong, empty when nothing did."""

    status_code: int | None
    error: str = ""


def send(url: str, headers: dict[str, str], body: bytes) -> DeliveryResult:
    """POST a message and say how that ended, within ``WEBHOOK_SECONDS``. What is answered is not read.

    The name is looked up once, each address that it has is checked, and the connection goes to that address: a name
    that leads elsewhere a moment later changes nothing. No redirect is followed, and no proxy of the environment is
    used. Call it from code that runs in no event loop, outside of a transaction.
    """
    return async_to_sync(_send)(httpx2.URL(url), headers, body)


async def _send(url: httpx2.URL, headers: dict[str, str], body: bytes) -> DeliveryResult:
    try:
        async with asyncio.timeout(settings.WEBHOOK_SECONDS):
            addresses = await _addresses(url)
            if not addresses:
                return DeliveryResult(None, Error.PRIVATE_ADDRESS)
            for address in addresses[:_MOST_TRIED]:
                status = await _post(url, address, headers, body)
                if status is not None:
                    return DeliveryResult(status, "" if 200 <= status < 300 else Error.STATUS)
    except (TimeoutError, httpx2.TimeoutException):
        return DeliveryResult(None, Error.TIMED_OUT)
    except (httpx2.HTTPError, OSError, ValueError):
        pass  # It did not take the request: no such name, no trusted certificate, cut off.
    return DeliveryResult(None, Error.UNREACHABLE)


async def _addresses(url: httpx2.URL) -> list[Address]:
    """The addresses of a name that may be called. Raises OSError for a name that leads nowhere."""
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(url.raw_host.decode(), port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(ip_address(str(each[4][0]).partition("%")[0]) for each in found)
    return [each for each in addresses if is_allowed(each)]


async def _post(url: httpx2.URL, address: Address, headers: dict[str, str], body: bytes) -> int | None:
    """The status that the server at this address answers; None where nothing took the connection."""
    there = url.copy_with(host=str(address))
    named = {
        **headers,
        "host": url.netloc.decode(),
        "content-type": "application/json",
        "user-agent": "Keepsake-Webhooks/1",
    }
    # The certificate has to be that of the name, to whichever address it led.
    to_the_name = {"sni_hostname": url.raw_host.decode()}
    async with httpx2.AsyncClient(
        verify=certificates(), trust_env=False, follow_redirects=False, timeout=settings.WEBHOOK_SECONDS
    ) as client:
        try:
            async with client.stream("POST", there, content=body, headers=named, extensions=to_the_name) as response:
                return response.status_code
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return None
