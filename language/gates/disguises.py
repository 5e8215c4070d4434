"""Decoding of disguised text: spaced, shifted, reversed or shuffled letters, and encodings.

Each decoder is tried only if the text looks like it.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
from collections.abc import Callable, Iterator
from urllib.parse import unquote

_LEET = str.maketrans("0134578@$!|", "oieastbasii")
_LEET_WORD = re.compile(r"(?<![\w@$])(?=[a-z@$!|0-9]*[a-z])(?=[a-z]*[0134578@$!|])[a-z@$!|0134578]{3,}(?![\w@$])")
_LETTERS_APART = re.compile(r"(?<![^\W\d_])[^\W\d_](?:[ ._\-*|/·+~]{1,3}[^\W\d_](?![^\W\d_])){5,}")
_WORDS_TOGETHER = re.compile(r"[a-z]{16,}")
_WORDS_BY_MARKS = re.compile(r"[a-z]{2,}(?:[_+|~*/\-.=][a-z]{2,}){3,}")
_CUT_WORDS = re.compile(r"(?<=[a-z])[-._*|/·~+]{1,2}(?=[a-z])")
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KNOWN_WORDS = re.compile(
    "(instructions?|disregard|directives?|guidelines?|commands?|assistant|everything|developer|previous|override"
    "|earlier|forget|ignore|bypass|reveal|prompts?|system|always|answer|secrets?|orders|above|prior|rules|these|those"
    "|users?|your|mode|tell|hide|show|print|give|send|this|that|from|what|never|not|with|user|now|all|any|and"
    "|the|you|are|of|my)"
)
"""Put apart again where no blanks are left between words."""

_SCRAMBLED = {
    (word[0], word[-1], "".join(sorted(word))): word
    for word in [
        "ignore",
        "disregard",
        "forget",
        "override",
        "bypass",
        "previous",
        "earlier",
        "instructions",
        "instruction",
        "prompt",
        "system",
        "reveal",
        "assistant",
        "guidelines",
        "directives",
        "developer",
        "commands",
    ]
}
_WORD = re.compile(r"[a-z]{6,}")

_ALPHABET = string.ascii_lowercase
_STEMS = (
    "ignore",
    "disregard",
    "forget",
    "instruct",
    "previous",
    "prompt",
    "system",
    "assist",
    "always",
    "anweisung",
    "you are",
    "your ",
    "the user",
    "from now",
    "without",
)
_MIRRORED = _ALPHABET[::-1]
_SHIFTED = {
    stem.translate(str.maketrans(_ALPHABET, other)): str.maketrans(other, _ALPHABET)
    for other in (*(_ALPHABET[shift:] + _ALPHABET[:shift] for shift in range(1, 26)), _MIRRORED)
    for stem in _STEMS
}
"""The stems in every shifted alphabet, each with the way back."""
_START = 5
_SHIFTED_BY_START: dict[str, list[str]] = {}
for _stem in _SHIFTED:
    _SHIFTED_BY_START.setdefault(_stem[:_START], []).append(_stem)
_BACKWARDS = [stem[::-1] for stem in _STEMS]

_ESCAPE = re.compile(r"(?:\\x|%|=)([0-9a-f]{2})|(?:\\u|u\+|&#x)([0-9a-f]{4});?", re.IGNORECASE)
_HEX = re.compile(r"(?<![0-9a-z])(?:0x)?[0-9a-f]{2}(?:[ :,-]?(?:0x)?[0-9a-f]{2}){7,}(?![0-9a-z])", re.IGNORECASE)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{16,}={0,6}(?![A-Za-z0-9=])")
_NUMBERS = re.compile(r"(?<!\d)\d{2,8}(?:[ ,;-]{1,2}\d{2,8}){7,}")
_MORSE = re.compile(r"[.-]{1,4}(?:(?: | ?/ ?| {3})[.-]{1,4}){7,}")
_MORSE_CODES = [
    ".-",
    "-...",
    "-.-.",
    "-..",
    ".",
    "..-.",
    "--.",
    "....",
    "..",
    ".---",
    "-.-",
    ".-..",
    "--",
    "-.",
    "---",
    ".--.",
    "--.-",
    ".-.",
    "...",
    "-",
    "..-",
    "...-",
    ".--",
    "-..-",
    "-.--",
    "--..",
]
_MORSE_LETTERS = dict(zip(_MORSE_CODES, _ALPHABET, strict=True))


def respelled(text: str) -> Iterator[str]:
    """Return readings of a folded text with disguised spelling."""
    unleet = _LEET_WORD.sub(lambda word: word.group().translate(_LEET) if not word.group().isdigit() else "", text)
    if unleet != text:
        yield unleet
    for run in _LETTERS_APART.finditer(text):
        yield from _put_apart("".join(filter(str.isalpha, run.group())))
    for together in _WORDS_TOGETHER.findall(text):
        yield from _put_apart(together)
    for marked in _WORDS_BY_MARKS.findall(text):
        yield re.sub(r"[^a-z]", " ", marked)
    if len(_CUT_WORDS.findall(text)) >= 4:
        yield _CUT_WORDS.sub("", text)
    mended = _WORD.sub(_mended, text)
    if mended != text:
        yield mended
    yield from _turned_round(text)


def _put_apart(letters: str) -> Iterator[str]:
    yield letters
    yield " ".join(_KNOWN_WORDS.sub(r" \1 ", letters).split())


def _mended(word: re.Match[str]) -> str:
    letters = word.group()
    return _SCRAMBLED.get((letters[0], letters[-1], "".join(sorted(letters))), letters)


def _turned_round(text: str) -> Iterator[str]:
    """Return the text with letters shifted, mirrored (atbash), or reversed."""
    starts = {text[at : at + _START] for at in range(len(text) - _START + 1)}
    for shifted in {stem for start in _SHIFTED_BY_START.keys() & starts for stem in _SHIFTED_BY_START[start]}:
        if shifted in text:
            yield text.translate(_SHIFTED[shifted])
    if any(stem in text for stem in _BACKWARDS):
        yield text[::-1]
        yield " ".join(word[::-1] for word in text.split())


def decoded(text: str) -> Iterator[str]:
    """Return decoded parts: escapes, hexadecimal, base64 and base32, letter numbers, Morse."""
    if len(_ESCAPE.findall(text)) >= 3:
        yield _ESCAPE.sub(lambda code: chr(int(code[1] or code[2], 16)), text)
        if "%" in text:
            yield unquote(text)
    if "&#" in text:
        yield html.unescape(text)
    if len(_CAPITAL_INSIDE.findall(text)) >= 3:
        yield _CAPITAL_INSIDE.sub(" ", text)
    for code in _HEX.findall(text):
        yield from _as_text(binascii.unhexlify, re.sub("0x|[^0-9a-f]", "", code.casefold()))
    blobs = _BASE64.findall(text)
    for found in {*blobs, "".join(blobs)} - {""}:
        blob = found.rstrip("=").replace("-", "+").replace("_", "/")
        yield from _as_text(base64.b64decode, blob + "=" * (-len(blob) % 4))
    for found in _BASE32.findall(text):
        blob = found.rstrip("=")
        yield from _as_text(base64.b32decode, blob + "=" * (-len(blob) % 8))
    for run in _NUMBERS.findall(text):
        yield from _letters_of_numbers(re.findall(r"\d+", run))
    for run in _MORSE.findall(text):
        yield "".join(_MORSE_LETTERS.get(code, " ") for code in re.sub(" ?/ ?|   ", " / ", run).split())


def _as_text(decode: Callable[[str], bytes], code: str) -> Iterator[str]:
    try:
        text = decode(code).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    if text.isprintable() or not any(ord(character) < 9 for character in text):
        yield text


def _letters_of_numbers(numbers: list[str]) -> Iterator[str]:
    base = 2 if all(len(number) == 8 and set(number) <= set("01") for number in numbers) else 10
    codes = [int(number, base) for number in numbers]
    if all(32 <= code < 127 for code in codes):
        yield "".join(map(chr, codes))
