"""The keyed fingerprint by which the words of a text are known again."""

from __future__ import annotations

import unicodedata
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "keepsake.fingerprint"


def fingerprint(user_id: UUID, text: str) -> str:
    """The keyed fingerprint of the words of a text: 64 hex digits.

    Case, accents, punctuation and spacing do not count. Without the deployment's key nobody can test a guess against
    it, and two people's fingerprints of one text differ.
    """
    return _hmac(user_id, _words(text), settings.SECRET_KEY)


def fingerprints(user_id: UUID, text: str) -> list[str]:
    """All fingerprints under which a text may be stored: the current key's first, then those of earlier keys."""
    words = _words(text)
    return [_hmac(user_id, words, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _hmac(user_id: UUID, words: str, key: str) -> str:
    return salted_hmac(_SALT, f"{user_id}:{words}", secret=key, algorithm="sha256").hexdigest()


def _words(text: str) -> str:
    """The words of a text in one spelling; the text itself when it has none.

    Not the words that search uses: those may improve, while a fingerprint has to stay what it is as long as it stands.
    """
    plain = unicodedata.normalize("NFKD", text)
    # Latin, Greek and Cyrillic accents only: in other scripts combining marks are letters.
    plain = "".join(character for character in plain if not "\u0300" <= character <= "\u036f")
    plain = unicodedata.normalize("NFKC", plain).casefold().translate(_APOSTROPHES)
    spaced = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in plain)
    return " ".join(spaced.split()) or plain


_APOSTROPHES = dict.fromkeys(map(ord, "'’ʼ`´"))
