"""Words of one sentence with their places, contractions written out, and the clauses they form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from language.offline.lexicon import verbs
from language.offline.lexicon.words import ADVERBS, HE, SHE, by_first_word, listed

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|k|am|pm)?\b|\w+(?:['’.&-]\w+)*(?:['’](?=\s|$))?|[^\w\s]")

_WITHOUT_APOSTROPHE = {
    "im": "i'm", "ive": "i've", "dont": "don't", "didnt": "didn't", "doesnt": "doesn't", "cant": "can't",
    "couldnt": "couldn't", "wont": "won't", "wouldnt": "wouldn't", "wasnt": "wasn't", "werent": "weren't",
    "isnt": "isn't", "arent": "aren't", "hasnt": "hasn't", "havent": "haven't", "hadnt": "hadn't",
    "shes": "she's", "hes": "he's", "thats": "that's",
}  # fmt: skip
_WHOLE = {
    "can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"),
    "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("got", "to"), "'cause": ("because",),
    "cuz": ("because",), "coz": ("because",), "let's": ("let", "us"),
}  # fmt: skip
_CLITICS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
# After one of these, 's is a verb and never a possessive.
_IS_AFTER = SHE | HE | listed("i it that this there here who what where when how everything everyone someone")
_AFTER_IS = listed(
    """a an the my not always never so very really still now in at from been got going gone one just quite too also
    only married retired born dead allergic afraid kind stubborn""",
)
_STATIVE = listed("retired married gone tired divorced engaged born finished done called named buried dressed")


Phrases: TypeAlias = dict[str, tuple[tuple[str, ...], ...]]
POLITE = by_first_word(
    (
        "can you", "could you", "would you", "will you", "i want you to", "i would like you to", "i need you to",
        "please", "and", "also", "so", "oh", "ok", "okay", "hey", "then", "but", "well", "just", "kindly", ",",
    )
)  # fmt: skip


class Token(NamedTuple):
    """One word or sign. ``low`` is it in lower case with a straight apostrophe; ``start`` and ``end`` are its place.

    A word made of a contraction keeps the place of the whole contraction. ``owner`` is true for a possessive
    (``Dad's``), whose ``low`` is then the owner without its ending.
    """

    text: str
    low: str
    start: int
    end: int
    spaced: bool = True
    owner: bool = False

    @property
    def is_word(self) -> bool:
        """Whether this is a word or a number rather than a sign."""
        return self.low[:1].isalnum()

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[:1].isupper()


def tokenize(text: str, offset: int = 0) -> list[Token]:
    """Split a sentence into words and signs, writing contractions out ("don't" → "do", "not").

    ``offset`` is added to every place, so that places can be those of a longer text.
    """
    raw: list[Token] = []
    previous_end = -1
    for match in _TOKEN.finditer(text):
        surface = match.group().replace("’", "'")
        low = surface.lower()
        low = _WITHOUT_APOSTROPHE.get(low, low)
        if low == "cause" and raw and raw[-1].low == "'" and raw[-1].end == match.start() + offset:
            raw.pop()
            low = "because"
        raw.append(Token(surface, low, match.start() + offset, match.end() + offset, match.start() > previous_end))
        previous_end = match.end()
    tokens: list[Token] = []
    for position, token in enumerate(raw):
        tokens.extend(_expanded(token, raw, position))
    return tokens


def _expanded(token: Token, raw: Sequence[Token], position: int) -> list[Token]:  # noqa: PLR0911
    low = token.low
    if low in _WHOLE:
        return _parts(token, _WHOLE[low])
    if "'" not in low:
        return [token] if low != "i" else [token._replace(text="I")]
    if low.endswith("n't"):
        return _parts(token, (low[:-3], "not"))
    stem, _, tail = low.rpartition("'")
    clitic = "'" + tail
    if clitic in _CLITICS:
        return _parts(token, (stem, _CLITICS[clitic]))
    following = _next_words(raw, position)
    if clitic == "'d" and stem in (SHE | HE | {"i", "we", "they", "you", "it", "that", "who"} | {token.low[:-2]}):
        return _parts(token, (stem, _had_or_would(following)))
    if clitic == "'s":
        if stem in _IS_AFTER or (following and (following[0] in _AFTER_IS or verbs.is_gerund(following[0]))):
            return _parts(token, (stem, _has_or_is(following)))
        return [token._replace(low=stem, owner=True)]
    if clitic == "'":
        return [token._replace(low=stem, owner=True)] if stem.endswith("s") else [token._replace(low=stem)]
    return [token]


def _parts(token: Token, words: Sequence[str]) -> list[Token]:
    first = words[0]
    if first == "i":
        first = "I"
    elif token.capital:
        # The surface keeps the writing of a name: "McKay's" → "McKay".
        first = token.text[: len(first)] if token.low.startswith(words[0]) else first.capitalize()
    built = [token._replace(text=first, low=words[0])]
    built += [token._replace(text=word, low=word, spaced=True) for word in words[1:]]
    return built


def _next_words(raw: Sequence[Token], position: int) -> list[str]:
    return [token.low for token in raw[position + 1 : position + 5] if token.is_word and token.low not in ADVERBS] or [
        token.low for token in raw[position + 1 : position + 2]
    ]


def _had_or_would(following: Sequence[str]) -> str:
    form = verbs.verb_form(following[0]) if following else None
    if following and following[0] in {"been", "better"}:
        return "had"
    return "had" if form and "part" in form.kinds and "base" not in form.kinds else "would"


def _has_or_is(following: Sequence[str]) -> str:
    if not following or following[0] in _STATIVE:
        return "is"
    form = verbs.verb_form(following[0])
    return "has" if form and ("part" in form.kinds or "past" in form.kinds) and "base" not in form.kinds else "is"


def joined(tokens: Sequence[Token]) -> str:
    """Write tokens as text, with the spaces they had."""
    pieces: list[str] = []
    for token in tokens:
        if pieces and token.spaced:
            pieces.append(" ")
        pieces.append(token.text)
    return "".join(pieces)


def phrase_end(tokens: Sequence[Token], position: int, phrases: Phrases) -> int | None:
    """Return where the longest of the phrases that stand at ``position`` ends, or None."""
    for phrase in phrases.get(tokens[position].low, ()) if position < len(tokens) else ():
        end = position + len(phrase)
        if tuple(token.low for token in tokens[position:end]) == phrase:
            return end
    return None


def skip_phrases(tokens: Sequence[Token], position: int, phrases: Phrases) -> int:
    """Return where the phrases that stand one after another from ``position`` on end."""
    while (after := phrase_end(tokens, position, phrases)) is not None:
        position = after
    return position
