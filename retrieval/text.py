"""Tokenises and normalises text for PostgreSQL's full text search, the same way for documents and queries.

PostgreSQL's own parser splits hyphenated words, addresses and numbers differently by locale, and can take long on
hostile input. So words are split here, and PostgreSQL only splits on spaces and stems.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import regex
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from language.brief_caches import cached_briefly
from language.shown import as_shown

SIMPLE = "simple"
CONFIGS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""The text search configurations that PostgreSQL ships, by ISO 639-1 code."""

MAX_CHARACTERS = 64_000
MAX_WORD_CHARACTERS = 255
MAX_QUERY_WORDS = 64

_QUERY_END_CHARACTERS = 2_000
_DETECTED_CHARACTERS = 1_000
_DETECTED_PROBABILITY = 0.5
# Languages without a stemmer in PostgreSQL. Without them, the detector would take their text for a similar language.
_OTHERS = ("bg", "cs", "fa", "he", "hr", "ja", "ko", "lv", "mk", "pl", "sk", "sl", "sq", "th", "uk", "ur", "vi", "zh")

_UNACCENTED_LETTERS = str.maketrans(
    dict(zip("øłđħıðŧ", "oldhidt", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th", "\N{ARABIC TATWEEL}": ""}
)
# Marks that people omit when they type. In other scripts a mark makes another letter (й, が, the vowels of Hindi).
_OPTIONAL_MARKS = regex.compile(
    r"(?<=[a-z\p{Greek}е])\p{M}+|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+"
)
# Scripts written without spaces, and Hangul, whose words include particles. A run ends where the script changes,
# which is mostly a word boundary.
_SOUTHEAST_ASIAN = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = rf"\p{{Han}}\p{{Hiragana}}\p{{Katakana}}ー\p{{Hangul}}{_SOUTHEAST_ASIAN}"
_TOKENS = regex.compile(
    rf"""(?V1)
    (?P<run>
        \p{{Han}}+ | \p{{Hiragana}}+ | [\p{{Katakana}}ー]+ | \p{{Hangul}}+ | [[{_SOUTHEAST_ASIAN}]&&[\p{{L}}\p{{M}}]]+
    )
    | [[\p{{L}}\p{{N}}]--[{_UNSPACED}]] [[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]*
    | \p{{N}}+
    """,
    regex.VERBOSE,
)
_ASCII_WORDS = re.compile("[a-z0-9]+")
"""What the pattern finds in texts of ASCII alone, several times as fast."""
_CLUSTERS = regex.compile(r"\P{M}\p{M}*")


FUZZY_LETTERS = 4
FUZZY_RATIO = 0.8
"""The least ``SequenceMatcher`` ratio at which a capitalised word of ``FUZZY_LETTERS`` or more matches a name."""
LETTERS_WRONG = 2
"""The greatest difference in length of two spellings of a name."""
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")


@dataclass(frozen=True, slots=True)
class PreparedText:
    """The full-text columns of a searchable row.

    ``text``: lower-case, unaccented words joined by single spaces. ``config``: the PostgreSQL text search configuration
    that stems them. ``length``: the number of words.
    """

    text: str
    config: str
    length: int

    def put_on(self, row: Any) -> None:
        """Set the columns of a ``retrieval.fields.Searchable``."""
        row.search_text, row.search_config, row.search_length = self.text, self.config, self.length


def prepare(content: str, language: str = "", *, heading: str = "") -> PreparedText:
    """Tokenise a text and choose the configuration of its language. Never raises, whatever the text.

    Without ``language`` (``de``, ``pt-BR``, …), the language is detected; if that is unsure, the configuration is
    ``simple``, which does not stem. The words of ``heading`` come first; they don't count for the detection.
    """
    words = list_words(heading) + list_words(content)
    config = config_for(language) if language else detect_config(content)
    return PreparedText(" ".join(words), config, len(words))


def list_words(content: str) -> list[str]:
    """Split a text into lower-case, unaccented words in order; scripts without spaces into letter bigrams."""
    if content.isascii():
        return [word[:MAX_WORD_CHARACTERS] for word in _ASCII_WORDS.findall(_fold(content))]
    words: list[str] = []
    for match in _TOKENS.finditer(_fold(content)):
        if match["run"] is None:
            words.append(match[0][:MAX_WORD_CHARACTERS])
            continue
        letters = _CLUSTERS.findall(match[0])
        if len(letters) == 1:
            words.append(letters[0][:MAX_WORD_CHARACTERS])
        words.extend((left + right)[:MAX_WORD_CHARACTERS] for left, right in pairwise(letters))
    return words


def list_query_words(content: str) -> list[str]:
    """Return the distinct words to search for, at most ``MAX_QUERY_WORDS``.

    Of a long text, it takes the first and the last words, because the question is mostly at one of the ends.
    """
    if len(content) > 2 * _QUERY_END_CHARACTERS:
        content = f"{content[:_QUERY_END_CHARACTERS]} {content[-_QUERY_END_CHARACTERS:]}"
    words = list(dict.fromkeys(list_words(content)))
    half = MAX_QUERY_WORDS // 2
    return words if len(words) <= MAX_QUERY_WORDS else words[:half] + words[-half:]


def config_for(language: str) -> str:
    """Return the configuration for a language tag, ``simple`` when PostgreSQL ships none."""
    return CONFIGS.get(regex.split("[-_]", language.strip().lower(), maxsplit=1)[0], SIMPLE)


def detect_config(content: str) -> str:
    """Return the configuration for the language that a text is most likely written in, ``simple`` when unsure."""
    language, probability = _detected(content[:_DETECTED_CHARACTERS])
    return CONFIGS.get(language, SIMPLE) if probability >= _DETECTED_PROBABILITY else SIMPLE


def is_most_likely_english(content: str) -> bool:
    """Whether no other language is likelier than English, however sure that is."""
    return _detected(content[:_DETECTED_CHARACTERS])[0] == "en"


@cached_briefly(maxsize=64)
def _detected(beginning: str) -> tuple[str, float]:
    # Cached because each source and each gate of one request detects the language of the same text.
    language, probability = _identifier().classify(_encodable(beginning))
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """Load the language detector's model, which is a file of its package, on first use."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = set(identifier.labels)
    identifier.set_languages([code for code in (*CONFIGS, *_OTHERS) if code in known])
    # Choosing languages leaves it by column; a text reads some rows of a hundred thousand.
    identifier.nb_ptc = np.ascontiguousarray(identifier.nb_ptc)
    return identifier


def _encodable(content: str) -> str:
    """Drop lone surrogates, which can't be encoded."""
    return content.encode("utf-8", "ignore").decode("utf-8")


def _fold(content: str) -> str:
    """Normalise spellings of a word: compatibility forms, case, and marks that people omit."""
    if content.isascii():
        return content[:MAX_CHARACTERS].lower()
    # Before look-alikes are replaced, which depends on how letters are composed and on their case.
    plain = unicodedata.normalize("NFKC", content).casefold()
    folded = unicodedata.normalize("NFKC", as_shown(plain)).casefold()[:MAX_CHARACTERS]
    letters = unicodedata.normalize("NFD", folded).translate(_UNACCENTED_LETTERS)
    return unicodedata.normalize("NFC", _OPTIONAL_MARKS.sub("", letters))


def names_in(question: str) -> set[str]:
    """Return the capitalised words of at least ``FUZZY_LETTERS`` in a question, normalised: they may be names."""
    capitals = (word for word in _LETTERS.findall(question) if word[0].isupper())
    return {folded for word in capitals for folded in list_words(word) if len(folded) >= FUZZY_LETTERS}


def is_like(name: str, other: str) -> bool:
    """Whether two names are so similar that one may be a misspelling of the other."""
    return abs(len(name) - len(other)) <= LETTERS_WRONG and SequenceMatcher(None, name, other).ratio() >= FUZZY_RATIO


class QuestionNames:
    """Matches people's names against a question.

    A word equal to a part of a name matches in any case. A similar word matches only if capitalised, so that common
    words are not taken for names.
    """

    def __init__(self, question: str) -> None:
        self._words = set(list_words(question))
        self._capitals = names_in(question)
        self._known: dict[str, bool] = {}

    def contain(self, name: str) -> bool:
        """Whether the question contains a part of this name. False for an empty name."""
        if name not in self._known:
            self._known[name] = any(self._holds(part) for part in list_words(name))
        return self._known[name]

    def _holds(self, part: str) -> bool:
        if len(part) < FUZZY_LETTERS:
            return len(part) > 1 and part in self._words
        return part in self._words or any(is_like(part, word) for word in self._capitals)
