"""How a receiver knows a message: the code of docs/webhooks.md, and secrets that change."""

import time
from uuid import uuid4

import keepsake.webhooks
import pytest

from memories.models import Webhook
from memories.webhooks import secret_of

from .common import archived, verification

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private")]


def test_the_documented_code_refuses_what_is_not_ours(hook, owner, receiver, run):
    archived(owner)
    run()
    ((_, headers, body),) = receiver.took
    headers = {name.lower(): value for name, value in headers.items()}
    verify, secret = verification(), secret_of(hook)
    verify(secret, headers, body)
    for changed in (
        {"webhook-timestamp": str(int(time.time()) - 301)},
        {"webhook-timestamp": str(int(time.time()) + 301)},
        {"webhook-id": str(uuid4())},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": "v1,\u00fc"},
        {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")},
    ):
        with pytest.raises(ValueError, match=r"too old|not signed"):
            verify(secret, {**headers, **changed}, body)
    with pytest.raises(ValueError, match="not signed"):
        verify(secret, headers, body.replace(b"DELETE", b"UPDATE"))
    with pytest.raises(ValueError, match="not signed"):
        verify(secret_of(Webhook()), headers, body)


@pytest.mark.parametrize(
    "forged",
    [
        {"webhook-timestamp": "9" * 5_000},
        {"webhook-timestamp": "-1"},
        {"webhook-timestamp": "\u0661"},
        {"webhook-timestamp": str(int(time.time()) - 301)},
        {"webhook-signature": "v1,\u00fc"},
        {"webhook-signature": "v1, v1,"},
        {"webhook-signature": ""},
        {"webhook-id": ""},
    ],
)
def test_the_client_takes_no_forged_headers(hook, owner, receiver, run, forged):
    """Reproduction: a timestamp of 5,000 digits raised another error than the one that receivers catch."""
    archived(owner)
    run()
    ((_, headers, body),) = receiver.took
    keepsake.webhooks.verify(secret_of(hook), headers, body)
    headers = {name.lower(): value for name, value in headers.items()}
    with pytest.raises(keepsake.webhooks.NotSigned):
        keepsake.webhooks.verify(secret_of(hook), {**headers, **forged}, body)


def test_a_secret_that_was_shown_before_the_secret_key_changed_still_verifies(hook, owner, receiver, run, settings):
    shown = secret_of(hook)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-32-characters-0123"
    assert secret_of(hook) != shown
    archived(owner)
    run()
    ((_, headers, body),) = receiver.took
    headers = {name.lower(): value for name, value in headers.items()}
    for secret in (shown, secret_of(hook)):
        verification()(secret, headers, body)
