import unicodedata

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text import (
    CONFIGS,
    MAX_CHARACTERS,
    MAX_QUERY_WORDS,
    MAX_WORD_CHARACTERS,
    config_for,
    detect_config,
    list_query_words,
    list_words,
    prepare,
)

# Anything, lone surrogates and NUL included, in scripts that are treated in ways of their own.
ANYTHING = st.one_of(
    st.text(st.characters(), max_size=200),
    st.text(st.sampled_from("aé́İßﷺ東京か゚ーを한국กำแ๓ไ-_'’.12 \0\ud800\u0301"), max_size=60),
)


@given(ANYTHING)
def test_any_text_is_prepared_the_same_way_twice(content):
    first = prepare(content)
    assert first == prepare(content)
    assert first.length == len(first.text.split(" ")) - (first.text == "")
    first.text.encode()
    assert "\0" not in first.text


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_ascii_has_the_words_that_it_has_beside_other_letters(content):
    assert [*list_words(content), "e"] == list_words(f"{content} é")


@given(ANYTHING)
def test_prepared_text_is_made_of_the_same_words(content):
    words = list_words(content)
    assert [word for word in words if not word or " " in word or len(word) > MAX_WORD_CHARACTERS] == []
    assert list_query_words(content) == list(dict.fromkeys(words)) or len(set(words)) > MAX_QUERY_WORDS


@given(st.text(st.sampled_from("abcäöüßéñœøżΣάςяё 1-"), max_size=60))
def test_neither_case_nor_composition_matters(content):
    assert list_words(content.upper()) == list_words(content)
    assert list_words(unicodedata.normalize("NFD", content)) == list_words(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Café, CAFÉ & cafe\u0301!", "cafe cafe cafe"),
        ("I'll e-mail o’neil_42@example.com at 3:30", "i ll e mail o neil 42 example com at 3 30"),
        ("Łódź, Ærø, Straße", "lodz aero strasse"),
        ("İstanbul IŞIK ışık", "istanbul isik isik"),
        ("ｆｕｌｌ ﬁne ½ ²", "full fine 1 2 2"),
        ("Который год? Ёлка", "который год елка"),
        ("Ἀθῆναι Αθήνα", "αθηναι αθηνα"),
        ("قُرْآن كـتـاب", "قران كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी में", "हिन्दी में"),
        ("東京都", "東京 京都"),
        ("犬が好き", "犬 が 好 き"),
        ("コーヒーを飲んだ", "コー ーヒ ヒー を 飲 んだ"),
        ("한국어 책", "한국 국어 책"),
        ("ที่นี่", "ที่นี่"),
        ("สวัสดี๓", "สวั วัส สดี ๓"),
        ("iPhoneを買う", "iphone を 買 う"),
        ("…—“”😀 \0 \ud800", ""),
        ("", ""),
    ],
)
def test_words_are_found_in_every_script(content, words):
    assert prepare(content).text == words


def test_a_query_is_folded_like_what_is_stored():
    stored = set(list_words("Łukasz’s crème brûlée, 東京都"))
    assert set(list_query_words("LUKASZ creme BRULEE 京都")) <= stored


@pytest.mark.parametrize(
    ("content", "config"),
    [
        ("My grandmother baked a cake every Sunday and we loved it", "english"),
        ("Meine Oma hat jeden Sonntag einen Apfelkuchen gebacken", "german"),
        ("Ma grand-mère faisait des tartes tous les dimanches", "french"),
        ("Mi abuela hacía tortas todos los domingos para nosotros", "spanish"),
        ("A minha avó fazia bolos aos domingos e nós gostávamos", "portuguese"),
        ("Mia nonna faceva le torte tutte le domeniche", "italian"),
        ("Mijn oma bakte elke zondag een appeltaart voor ons", "dutch"),
        ("Моя бабушка пекла пироги по воскресеньям", "russian"),
        ("Min mormor bakade kakor varje söndag när jag var liten", "swedish"),
        ("Isoäitini leipoi kakkuja joka sunnuntai", "finnish"),
        ("Büyükannem her pazar kek yapardı", "turkish"),
        ("Moja babcia piekła ciasta w każdą niedzielę", "simple"),  # PostgreSQL ships no Polish.
        ("東京都に住んでいます", "simple"),
        ("Anna", "simple"),
        ("42", "simple"),
        ("", "simple"),
    ],
)
def test_the_language_is_detected_or_left_open(content, config):
    assert detect_config(content) == config
    assert prepare(content).config == config


@pytest.mark.parametrize(
    ("language", "config"),
    [
        ("de", "german"),
        ("pt-BR", "portuguese"),
        ("en_GB", "english"),
        (" FR ", "french"),
        ("nn", "norwegian"),
        ("pl", "simple"),
        ("?", "simple"),
    ],
)
def test_a_language_that_is_given_is_believed(language, config):
    assert config_for(language) == config
    assert prepare("The language of this text is English", language).config == config


def test_a_heading_adds_words_and_leaves_the_language_alone():
    prepared = prepare("Hallo, wie geht es dir heute? Wir gehen spazieren.", heading="5 May 2023, Käthe")
    assert prepared.text.startswith("5 may 2023 kathe hallo wie ")
    assert (prepared.config, prepared.length) == ("german", 13)


def test_of_a_long_query_both_ends_are_kept():
    for count in (500, 6_000):
        words = list_query_words(" ".join(f"w{number}" for number in range(count)))
        assert len(words) == MAX_QUERY_WORDS
        assert (words[0], words[-1]) == ("w0", f"w{count - 1}")
    assert list_query_words("again and again and again") == ["again", "and"]


@pytest.mark.django_db
def test_every_configuration_is_one_that_postgresql_ships():
    with connection.cursor() as cursor:
        cursor.execute("SELECT cfgname FROM pg_ts_config")
        shipped = {name for (name,) in cursor.fetchall()}
    assert set(CONFIGS.values()) | {"simple"} == shipped


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content",
    [
        "x" * 32_000,
        "東" * 32_000,
        "".join(chr(0x4E00 + number % 20_000) for number in range(32_000)),
        "".join(chr(0x20000 + number) for number in range(32_000)),
        " ".join(f"{number:x}" for number in range(6_000)),
        "a-" * 16_000,
        "ﷺ" * 32_000,
        "".join(f"ﷺ{number:x}" for number in range(5_000)),
        "e\u0301" * 16_000,
        "\ud800\0" * 16_000,
        "กำ" * 16_000,
        "http://a.b/c?d=" * 2_000,
        "".join(f"{number:04x}" for number in range(8_000)),
    ],
    ids=lambda content: ascii(content[:8]),
)
def test_whatever_fits_into_a_message_can_be_indexed(content):
    prepared = prepare(content[:32_000])
    assert len(prepared.text) <= 3 * MAX_CHARACTERS
    with connection.cursor() as cursor:
        for config in (prepared.config, "english"):
            cursor.execute(
                "SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(to_tsvector(%s::regconfig, %s))",
                [config, prepared.text],
            )
            assert cursor.fetchone()[0] <= prepared.length
