"""Secrets: keys and tokens of services, private keys, passwords and codes.

The token formats of common services come from detect-secrets. Only its patterns are run: its checks whether a token is
valid would send it over the network, and what its own search gives of a match may be no more than the prefix.
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
# Newer formats than the library knows, and the keys of Keepsake itself.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|github_pat_\w{22,}|AIza[\w-]{35}|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{30,}"
    r"|gsk_\w{20,}|xai-\w{20,}|pplx-\w{20,}|npm_[A-Za-z0-9]{36}|sk_test_\w{16,}|[rs]k_live_\w{16,}|whsec_[\w+/=]{20,}"
    r"|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|do[opr]_v1_[0-9a-f]{64}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|xapp-\d-[\w-]{20,}"
    r"|ks_[0-9a-f]{6,}\.[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,})"
)
_TOKENS: tuple[re.Pattern[str], ...] = (_TOKEN, *(pattern for kind in _DETECTORS for pattern in kind().denylist))
_MORE_OF_A_TOKEN = re.compile(r"[A-Za-z0-9_+/=-]*(?:\.[A-Za-z0-9_+/=-]+)*")
# Some of these patterns take time that grows with the square of a text, so a long one is read in parts.
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
    r"(?:seed|recovery|mnemonic|backup|secret)[ -](?:phrase|words|seed)\b[^:=]{0,30}?(?:[:=]|\bis\b|\bare\b)\s*[\"'“]?"
    r"(?P<value>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def find_tokens(text: str) -> Iterator[Span]:
    """Ranges of keys and tokens, each to its end."""
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
    """Ranges of private keys, to the end of the text, and of the words that restore a wallet."""
    low = text.casefold()
    if not any(word in low for word in ("private key", "putty", "phrase", "words", "seed")):
        return
    for found in _PRIVATE_KEY.finditer(text):
        yield found.start(), len(text)
    for found in _SEED_PHRASE.finditer(text):
        yield found.span("value")


# --- Passwords and codes ----------------------------------------------------------------------------------------

_SIGN_IN_WORDS = (
    r"pass ?word|pass ?code|pass ?phrase|passwd|\bpwd|\bpw\b|log-?in|pass ?wort|kennwort|zugangscode|mot de passe"
    r"|mdp\b|contrase[nñ]a|clave"
    r"|senha|palavra-passe|wachtwoord|has[lł]o|парол[ьяе]|şifre\w*|parola|lösenord|adgangskode|passord|heslo|salasana"
    r"|jelszó"
    r"|κωδικός|सिफ़र|पासवर्ड|كلمة (?:السر|المرور)|סיסמ[הת]\w*|mật khẩu|kata sandi"
)
_JOIN = (
    r"(?:[^\S\n]+(?:for|of|to|from|on|für|von|zum|zu|pour|de|du|del|da|do|di|per|para|от|для)\s[^.,:;=\"“'\d]{1,40}?)?"
    r"\s*(?:[:=→]+|\b(?:is|was|were|are|remains|ist|war|lautete?|est|était|es|era|fue|é|foi|è|is|was|jest|to|to było"
    r"|był|это|был)\b:?|-)\s*"
)
_PASSWORD_VALUE = re.compile(
    rf"(?:(?<![^\W_])(?:{_SIGN_IN_WORDS}))(?P<join>{_JOIN})(?P<quote>[\"'“”«„‘`]?)(?P<value>(?!\[)[^\s\"“”«»„`]{{3,}})",
    re.IGNORECASE,
)
_CJK_PASSWORD = re.compile(
    r"(?:密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|รหัสผ่าน)[^\s\w]{0,3}\s*(?:是|为|為|は|가|이|는|은|:|:|=)?\s*[「『\"“:]?"
    r"(?P<value>(?=[!-~]*[0-9!-/:-@])[!-~]{4,}|(?<=[「『\"“])[^」』\"”]{3,})"
)
_CODE_VALUE = re.compile(
    r"(?<![^\W_])(?:pin(?: ?code| number)?|cvv2?|cvc2?|security code|(?:door|alarm|gate|safe|lock|access|entry|unlock"
    r"|phone|vault|"
    r"garage|voicemail|bank|card)(?:'s)?(?: \w+)? (?:code|combination|pin)|combination (?:of|to|for) (?:the|her|his"
    r"|their) \w+|geheimzahl"
    r"|pin-?code|code pin|c[oó]digo pin|türcode|t[uü]r-?code|code d.acc[eè]s|пин-?код|код (?:от|для) \w+)"
    r"\s*(?:\b(?:for|of|to)\b[^.,:;=\d]{1,30}?)?(?:[:=]|\b(?:is|was|ist|war|lautete?|est|était|es|era|è)\b|-"
    r"|–)?\s*[\"'“]?"
    r"(?P<value>\d{3,8}|\d{1,2}(?:[ -]\d{1,2}){2,3})(?![\d,]|[ -]?(?:years?|feet|miles|people))",
    re.IGNORECASE,
)
# Parts of the words above: most texts hold none of them, and need not be searched.
_PASSWORD_STEMS = (
    *(
        "pass",
        "pwd",
        "pw",
        "login",
        "log-in",
        "kennwort",
        "zugangscode",
        "mdp",
        "contrase",
        "clave",
        "senha",
        "wachtwoord",
        "hasło",
        "haslo",
    ),
    *(
        "парол",
        "şifre",
        "parola",
        "lösenord",
        "adgangskode",
        "heslo",
        "salasana",
        "jelszó",
        "κωδικ",
        "सिफ़र",
        "पासवर्ड",
        "كلمة",
    ),
    *("סיסמ", "mật khẩu", "kata sandi", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호", "รหัสผ่าน"),
)
_CODE_STEMS = ("pin", "cvv", "cvc", "code", "combination", "geheimzahl", "код")
_TELLING = re.compile(r"\S*?(?:\d|[^\w\s.,;!?)'’-]|[a-zа-я][A-ZА-Я])", re.UNICODE)
_SAID_ABOUT = re.compile(
    r"(?:a|an|the|his|her|their|its|my|our|your|always|never|still|often|not|no|too|so|very|only|just|also|what|that"
    r"|the"
    r"|secret|safe|strong|weak|unknown|long|short|easy|hard|simple|wrong|right|correct|invalid|lost|known|gone|stuck"
    r"|kept"
    r"|impossible|important|private|something|nothing|one|on|in|under|at|about|from|for|to|by|with|and|or|\w+(?:ed|en"
    r"|ing|ly))",
    re.IGNORECASE,
)


def find_passwords(text: str) -> Iterator[Span]:
    """Ranges of passwords, PINs and other codes, by the words before them.

    A word after "is" counts as a password when it ends the clause or has a digit, a sign or an inner capital: "the
    password was the name of her dog" gives none away.
    """
    low = text.casefold()
    if any(word in low for word in _CODE_STEMS):
        # A six-digit PIN code is a postal code in India.
        for found in _CODE_VALUE.finditer(text):
            if not (found.group().casefold().startswith("pin code") and len(found["value"]) == 6):
                yield found.span("value")
    if not any(word in low for word in _PASSWORD_STEMS):
        return
    for pattern in (_PASSWORD_VALUE, _CJK_PASSWORD):
        for found in pattern.finditer(text):
            if pattern is _CJK_PASSWORD or _gives_away(found, text):
                yield found.span("value")


def _gives_away(found: re.Match[str], text: str) -> bool:
    value = found["value"].rstrip(".,;!?)'’")
    if len(value) < 3:
        return False
    if _TELLING.match(value) and not value.isdecimal():
        return not re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", value)
    marked = re.search("[:=]", found["join"]) is not None
    if value.isdecimal():
        return marked or (len(value) >= 4 and not re.fullmatch(r"1[89]\d\d|20\d\d", value))
    if found["quote"] or marked:
        return not (_SAID_ABOUT.fullmatch(value) and not found["quote"])
    ends = re.match(r"[\"'”’]?\s*(?:[.,;!?)]|$|and\b|und\b|et\b|y\b)", text[found.start("value") + len(value) :])
    return (
        ends is not None
        and not _SAID_ABOUT.fullmatch(value)
        and re.search(r"\b(?:is|was|ist|war)\b", found["join"]) is not None
    )
