"""Checks of a text's length, characters and third person, and the fingerprint of its words."""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from journal.exceptions import Gated
from language.shown import as_shown

SHORTEST = 5
LONGEST = 500
LONGEST_EXTRACTED = 280
"""Extraction writes one self-contained statement; anything longer retells the conversation."""

_LINE_CONTROLS = frozenset("\t\n\r\v\f\x85")
# They reorder or hide text, so that a person approves something else than a model reads.
_HIDING = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|‘[^’]*’")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]\s+)$")
_PRONOUN = re.compile(
    r"(?<![\w'’-])(?:of mine|I(?:['’](?:m|ve|d|ll))?|"
    r"(?:me|my|myself|we|us|our|ours|ourselves|you|your|yours|yourself|yourselves)(?:['’](?:re|ve|d|ll))?)(?![\w'’-])",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(r"\b(?:the (?:ai )?(?:assistant|chatbot)|as an? (?:ai|language model))\b", re.IGNORECASE)
# A word before "I" that may stand at the start of a sentence without being a name that the "I" numbers (Elizabeth I).
_BEFORE_PRONOUN = re.compile(
    r"also|although|and|as|because|but|if|now|since|so|that|then|though|what|when|where|while", re.IGNORECASE
)

_SALT, _WORD_SALT = "keepsake.fingerprint", "keepsake.word"
_APOSTROPHES = dict.fromkeys(map(ord, "'’ʼ`´"))


def check_form(text: str, *, longest: int = LONGEST, shortest: int = SHORTEST) -> str:
    """Return the text in its stored form: composed Unicode, single spaces, ``shortest`` to ``longest`` characters.

    Raises Gated (422) for another length, for control characters and for characters that hide or reorder text.
    """
    text = check_characters(text)
    check_length(text, shortest, longest)
    return text


def check_length(text: str, shortest: int, longest: int) -> None:
    """Raise Gated (422) unless the text has ``shortest`` to ``longest`` characters."""
    if not shortest <= len(text) <= longest:
        raise Gated(
            _("The text has %(text)s characters; %(shortest)s to %(longest)s are allowed.")
            % {"text": len(text), "shortest": shortest, "longest": longest}
        )


def check_characters(text: str) -> str:
    """Return a text of any length in its stored form. Raises Gated (422) for control and hiding characters."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    for character in text:
        if unicodedata.category(character) in {"Cc", "Cs"} and character not in _LINE_CONTROLS:
            raise Gated(
                _("The text holds a control character (U+%(character)s).")
                % {"character": format(ord(character), "04X")}
            )
    hiding = _HIDING.search(text)
    if hiding:
        raise Gated(
            _("The text holds a character that hides or reorders text (U+%(group)s).")
            % {"group": format(ord(hiding.group()), "04X")}
        )
    return " ".join(unicodedata.normalize("NFC", text).split())


def check_third_person(text: str) -> None:
    """Raise Gated (422) for an English text in the first or second person, or about the assistant.

    Extracted statements are read in other conversations, where "I" and "you" would mean somebody else. Quoted speech
    may hold any word, and so may a title within a sentence (My Fair Lady).
    """
    unquoted = _QUOTED.sub(" ", text)
    assistant = _ASSISTANT.search(unquoted)
    if assistant:
        raise Gated(
            _('The text is about the conversation ("%(group)s"), not about a person.') % {"group": assistant.group()}
        )
    for pronoun in _PRONOUN.finditer(unquoted):
        if _means_somebody(pronoun, unquoted):
            raise Gated(_('The text is not in the third person ("%(group)s").') % {"group": pronoun.group()})


def _means_somebody(pronoun: re.Match[str], text: str) -> bool:
    word, before = pronoun.group(), text[: pronoun.start()]
    if word == "I":
        previous = re.search(r"([\w'’]+)\s+$", before)
        if previous is not None and re.match(r" [A-Z][a-z]", text[pronoun.end() :]):
            return False  # "The I Ching".
        return previous is None or previous[1].islower() or bool(_BEFORE_PRONOUN.fullmatch(previous[1]))
    return word[0].islower() or word[:2] in {"I'", "I’"} or bool(_SENTENCE_START.search(before))


def fingerprint(user_id: UUID, text: str) -> str:
    """Return the keyed hash (HMAC-SHA-256) of a text's words as 64 hex digits.

    Case, accents, punctuation and spacing are ignored. Guesses can't be tested without the deployment's key, and two
    people's fingerprints of one text differ.
    """
    return _hmac(user_id, _words(text), settings.SECRET_KEY)


def fingerprints(user_id: UUID, text: str) -> list[str]:
    """Return all fingerprints of a text: with the current key first, then with earlier keys.

    Of a text with characters that are not shown, also those of an earlier release, in which they parted words.
    """
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    shown = as_shown(text)
    forms = dict.fromkeys(map(_parted_words, (shown or text, text) if shown != text else (text,)))
    return [_hmac(user_id, words, key) for words in forms for key in keys]


def gist_fingerprints(user_id: UUID, gist: str) -> list[str]:
    """Return all fingerprints of a sentence's content words (``language.reading.gist``), as ``fingerprints`` does."""
    return fingerprints(user_id, f"content words {gist}")


def word_hashers(user_id: UUID) -> list[Callable[[str], str]]:
    """Return functions that hash a person's words, to eight hex digits: by the current key first, then by earlier ones.

    As with fingerprints, guesses can't be tested without the deployment's key.
    """
    return [
        _hasher(salted_hmac(_WORD_SALT, str(user_id), secret=key, algorithm="sha256").digest())
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    ]


def _hasher(key: bytes) -> Callable[[str], str]:
    return lambda word: hmac.digest(key, word.encode(), "sha256")[:4].hex()


def _hmac(user_id: UUID, words: str, key: str) -> str:
    return hmac.digest(_salted(key), f"{user_id}:{words}".encode(), "sha256").hex()


@cache
def _salted(key: str) -> bytes:
    """Return the key of ``salted_hmac`` for fingerprints."""
    return sha256(f"{_SALT}{key}".encode()).digest()


def _words(text: str) -> str:
    """Return the normalised words of a text as it is shown; the text itself if it has none."""
    return _parted_words(as_shown(text) or text)


def _parted_words(text: str) -> str:
    """Return these words with every character that is not shown taken for the end of a word.

    This is not the normalisation of searches, because stored fingerprints must not change when that is improved.
    """
    plain = unicodedata.normalize("NFKD", text)
    # Latin, Greek and Cyrillic accents only: in other scripts combining marks are letters.
    plain = plain.translate(_ACCENTS)
    plain = unicodedata.normalize("NFKC", plain).casefold().translate(_APOSTROPHES)
    return " ".join(plain.translate(_SPACED).split()) or plain


class _Spaced(dict[int, str]):
    """Translation table that maps characters outside of words to a space. Caches common characters."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shown = character if unicodedata.category(character)[0] in "LMN" else " "
        if code < _COMMON:
            self[code] = shown
        return shown


_ACCENTS = dict.fromkeys(range(0x0300, 0x0370))
_COMMON = 0x3000
_SPACED = _Spaced()
