"""Texts as their readers see them: without characters that are not shown, and without look-alikes of Latin letters."""

import pytest

from language.shown import as_shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plays the c\u200bello", "plays the cello"),
        ("plays the \u0441ello", "plays the cello"),
        ("plays the \u0441\u0435\u217c\u217co", "plays the cello"),
        ("loves \u0441\u043e\u0441\u043e\u0430", "loves cocoa"),
        ("plays the \u0261uit\u03b1r", "plays the guitar"),
        ("plays the \U0001d41cello", "plays the cello"),
    ],
)
def test_look_alikes_among_latin_letters_are_these_letters(text, shown):
    assert as_shown(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Сара и рос",
        "Пользователь смотрит Netflix и рос",
        "kırmızı elma",
        "sæl og øl",
        "Größe",
        "3 µm",
        "η Αθήνα",
        "ኢትዮጵያ",
    ],
)
def test_words_of_another_alphabet_and_other_letters_stay(text):
    assert as_shown(text) == text
