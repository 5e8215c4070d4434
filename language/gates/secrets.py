"""Finds keys and tokens of services, and private keys.

Uses only the patterns of detect-secrets: its validity checks would send tokens over the network, and its search may
report only the prefix of a match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

Span = tuple[int, int]

_DETECTORS: tuple[type[RegexBasedDetector], ...] = (
    AWSKeyDetector,
    AzureStorageKeyDetector,
    BasicAuthDetector,
    DiscordBotTokenDetector,
    GitHubTokenDetector,
    GitLabTokenDetector,
    JwtTokenDetector,
    MailchimpDetector,
    NpmDetector,
    OpenAIDetector,
    PypiTokenDetector,
    SendGridDetector,
    SlackDetector,
    SquareOAuthDetector,
    StripeDetector,
    TelegramBotTokenDetector,
    TwilioKeyDetector,
)
# Formats that the library lacks, and keys of Keepsake.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|github_pat_\w{22,}|AIza[\w-]{35}|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{30,}"
    r"|gsk_\w{20,}|xai-\w{20,}|pplx-\w{20,}|npm_[A-Za-z0-9]{36}|sk_test_\w{16,}|[rs]k_live_\w{16,}|whsec_[\w+/=]{20,}"
    r"|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|do[opr]_v1_[0-9a-f]{64}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|xapp-\d-[\w-]{20,}"
    r"|ks_[A-Za-z0-9]{8,16}\.[\w-]{20,}|glsa_\w{20,}|hvs\.[\w-]{20,}|dckr_(?:pat|oat)_[\w-]{20,}|dp\.[ps]t\.\w{20,}"
    r"|lin_api_\w{20,}|(?:ntn|secret)_[A-Za-z0-9]{32,}|figd_[\w-]{20,}|PMAK-[0-9a-f-]{20,}|r8_\w{20,}|sbp_\w{20,}"
    r"|pscale_\w+_[\w-]{20,}|GOCSPX-[\w-]{20,}|dapi[0-9a-f]{32}|EAA[A-Za-z0-9]{40,}|key-[0-9a-f]{32}|shippo_\w{20,}"
    r"|hooks\.slack\.com/services/T\w+/B\w+/\w{16,}|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}|nfp_\w{20,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,})"
)
_TOKENS: tuple[re.Pattern[str], ...] = (_TOKEN, *(pattern for kind in _DETECTORS for pattern in kind().denylist))
_MORE_OF_A_TOKEN = re.compile(r"[A-Za-z0-9_+/=-]*(?:\.[A-Za-z0-9_+/=-]+)*")
# Some of these patterns take quadratic time, so long texts are searched in parts.
_PART, _SHARED = 1_024, 512
_LONG_WORD = re.compile(r"[^\s]{18}")
_CREDENTIAL_WORDS = re.compile(
    r"(?:api[ _-]?(?:key|token|secret)|access[ _-]?(?:key|token)|secret[ _-]?(?:key|token)|client[ _-]?secret"
    r"|auth\w*[ _-]?token"
    r"|bearer|private key|session[ _-]?(?:id|token)|\btoken\b|密钥|令牌|токен"
    r"|ключ api|api-ключ|schl[uü]ssel|cl[eé] (?:api"
    r"|priv)\w*)"
    r"(?:\s+(?:is|was|=|ist|est|es|são|lautet))?[\s:=\"'`]{1,5}",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9_+/=.~-]{16,}")

_PRIVATE_KEY = re.compile(
    r"-{3,}\s?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d", re.IGNORECASE
)
_SEED_PHRASE = re.compile(
    r"(?:seed|recovery|mnemonic|backup|secret)[ -](?:phrase|words|seed)\b[^:=]{0,30}?(?:[:=]|\bis\b|\bare\b"
    r"|\bwas\b|\breads\b)\s*[\"'“]?"
    r"(?P<value>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def find_tokens(text: str) -> Iterator[Span]:
    """Ranges of complete keys and tokens."""
    if not _LONG_WORD.search(text):
        return
    for start in range(0, max(1, len(text) - _SHARED), _PART - _SHARED):
        for first, last in _tokens_between(text, start, start + _PART):
            yield first, _MORE_OF_A_TOKEN.match(text, last).end()  # type: ignore[union-attr]


def _tokens_between(text: str, start: int, end: int) -> Iterator[Span]:
    for pattern in _TOKENS:
        for found in pattern.finditer(text, start, end):
            yield found.span()
    for word in _CREDENTIAL_WORDS.finditer(text, start, end):
        value = _RANDOM.match(text, word.end(), end)
        if value:
            yield value.span()


def find_private_keys(text: str) -> Iterator[Span]:
    """Ranges of private keys (to the end of the text) and of wallet recovery phrases."""
    low = text.casefold()
    if not any(word in low for word in ("private key", "putty", "phrase", "words", "seed")):
        return
    for found in _PRIVATE_KEY.finditer(text):
        yield found.start(), len(text)
    for found in _SEED_PHRASE.finditer(text):
        yield found.span("value")
