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

from .words_of_secrets import FUNCTION_WORD

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
_LONG_WORD = re.compile(r"[^\s]{16}")
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
# A key may stand some words after its name if it is random beyond doubt: letters and digits take turns in it.
_KEY_WORDS = re.compile(
    r"(?<![^\W_])(?:\w{0,12}keys?|\w{0,12}tokens?|secrets?|credentials?|cookie|wif|hash|pass ?phrase|licen[cs]e"
    r"|\w{0,12}schl[uü]ssel|cl[eé]|clave|llave|chiave|chave|sleutel|nyckeln?|nøkkel\w*|avain|klucz\w*|klíč\w*|kulcs\w*"
    r"|cheia|anahtar\w*|ключ\w*|токен\w*|κλειδί|密钥|令牌|密鑰|キー|トークン|키|토큰)(?![^\W_])(?=[^\n]{0,90}?\d)",
    re.IGNORECASE,
)
_RANDOM_LATER = re.compile(
    r"(?<![\w./@-])(?=(?:[A-Za-z_+/=-]*\d){2})(?![0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3})[A-Za-z0-9_+/=-]{16,}(?![\w@-])"
)
_TURNS = re.compile(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d")
_LATER, _FEWEST_TURNS = 90, 4
"""How many characters after its name such a key may begin, and how often letters and digits take turns in it."""

_PRIVATE_KEY = re.compile(
    r"-{3,}\s?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d", re.IGNORECASE
)
_SEED_NAMES = re.compile(
    r"(?:\b(?:seed|recovery|mnemonic|back-?up|secret|crypto|wallet|restore|twelve|twenty-four|12|24)"
    r"[ -](?:phrases?|words|seed|list)|mnemonic|mnemo\w+"
    r"|\bseed (?:of|for) [^.:\n]{0,30}wallet|\bwallet(?:'s)? (?:seed|phrase|words|backup)"
    r"|wallet(?:'s)? \w+ words|seed-?phrase|\w*wiederherstellungs(?:w\w+|phrase|satz)"
    r"|phrase (?:de r[ée]cup\w+|secr[èe]te)"
    r"|mots de r[ée]cup\w+|frase (?:semilla|de recup\w+|di recup\w+|secreta)"
    r"|palavras de recup\w+|herstel(?:zin|woorden)"
    r"|återställnings(?:fras|ord)|gjenopprettings\w+|słowa odzyskiwania|fraza (?:seed|odzyskiwania)|сид-?фраз\w"
    r"|фраз\w восстановления|мнемо\w+|助记词|助記詞|シードフレーズ|복구 문구)",
    re.IGNORECASE,
)
_SEED_LIST = re.compile(
    r"(?P<commas>(?:[^\W\d_]{2,12},\s){4,24}[^\W\d_]{2,12})|(?P<blanks>(?:[^\W\d_]{3,10} ){10,23}[^\W\d_]{3,10})"
)
_SEED_STEMS = [
    "private key", "putty", "phrase", "words", "seed", "mnemo", "мнемо", "wallet", "wiederherst", "fras", "фраз",
    "助记", "助記", "シード", "복구",
]  # fmt: skip
_SEED_WITHIN = 80
"""How many characters after its name a list of words may begin."""


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
    for word in _KEY_WORDS.finditer(text, start, end):
        for value in _RANDOM_LATER.finditer(text, word.end(), min(end, word.end() + _LATER + 64)):
            if value.start() - word.end() <= _LATER and len(_TURNS.findall(value.group())) >= _FEWEST_TURNS:
                yield value.span()


def find_private_keys(text: str) -> Iterator[Span]:
    """Ranges of private keys (to the end of the text) and of wallet recovery phrases."""
    low = text.casefold()
    if not any(map(low.__contains__, _SEED_STEMS)):
        return
    for found in _PRIVATE_KEY.finditer(text):
        yield found.start(), len(text)
    for name in _SEED_NAMES.finditer(text):
        listed = _SEED_LIST.search(text, name.end(), name.end() + 400)
        if listed and listed.start() - name.end() <= _SEED_WITHIN and _is_a_seed(listed):
            yield listed.span()


def _is_a_seed(listed: re.Match[str]) -> bool:
    """Words in a row without commas are a sentence if several of them are function words ("about" may be one)."""
    return bool(listed["commas"]) or len(FUNCTION_WORD.findall(listed["blanks"])) < 2
