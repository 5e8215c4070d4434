import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.exceptions import Gated
from statements import policy

USER = uuid.UUID(int=1)
OTHER = uuid.UUID(int=2)


class TestForm:
    def test_blanks_become_single_spaces(self):
        assert policy.check_form("  Rosa\n\tkept \u2028 bees. ") == "Rosa kept bees."

    def test_characters_are_composed(self):
        assert policy.check_form("Rosa had a cafe\u0301.") == "Rosa had a café."

    @pytest.mark.parametrize("text", ["", "    ", "Rosa", "x" * 501])
    def test_another_length_is_refused_with_the_number(self, text):
        with pytest.raises(Gated, match=f"{len(text.split()[0]) if text.strip() else 0} characters"):
            policy.check_form(text)

    def test_what_is_extracted_is_shorter(self):
        assert policy.check_form("x" * 280, longest=policy.LONGEST_EXTRACTED)
        with pytest.raises(Gated, match="5 to 280"):
            policy.check_form("x" * 281, longest=policy.LONGEST_EXTRACTED)

    @pytest.mark.parametrize(
        "character", ["\x00", "\x07", "\x1b", "\x7f", "\x9d", "\ud800", "\u202e", "\u2066", "\U000e0041"]
    )
    def test_control_and_hiding_characters_are_refused_by_number(self, character):
        with pytest.raises(Gated, match=f"U\\+{ord(character):04X}"):
            policy.check_form(f"Rosa kept{character} bees.")

    @pytest.mark.parametrize("text", ["She said 👨‍👩‍👧 often.", "او می‌گفت سلام", "彼女は猫が好きだった。"])
    def test_joiners_and_other_scripts_stay(self, text):
        assert policy.check_form(text) == text

    @given(st.text(max_size=600))
    def test_whatever_passes_is_stable_and_in_bounds(self, text):
        try:
            formed = policy.check_form(text)
        except Gated:
            return
        assert policy.check_form(formed) == formed
        assert 5 <= len(formed) <= 500
        assert "\n" not in formed


class TestThirdPerson:
    @pytest.mark.parametrize(
        "text",
        [
            "Rosa loved My Fair Lady.",
            "Her father fell in World War I.",
            "Elizabeth I was her heroine.",
            "Rosa worked in a coal mine.",
            "Rosa moved to the US in 1960.",
            'Rosa always said "I love you" at the door.',
            "Rosa used to say «you and me».",
            "Rosa was an assistant in a pharmacy.",
            "Rosas Schwester wohnte in Wien.",
        ],
    )
    def test_a_statement_about_somebody_passes(self, text):
        policy.check_third_person(text)

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("Rosa asked me to come.", "me"),
            ("My mother was kind.", "My"),
            ("I’m glad that Rosa came.", "I’m"),
            ("Rosa and I danced.", "I"),
            ("She was loved. I think so too.", "I"),
            ("Because I said so, Rosa came.", "I"),
            ("A friend of mine knew Rosa.", "of mine"),
            ("You know that Rosa sang.", "You"),
            ("Rosa told us a story.", "us"),
            ("It is what you're after.", "you're"),
        ],
    )
    def test_one_who_speaks_or_is_spoken_to_is_refused_by_the_word(self, text, word):
        with pytest.raises(Gated, match=word):
            policy.check_third_person(text)

    @pytest.mark.parametrize("text", ["The assistant asked about Rosa.", "As an AI language model it knew nothing."])
    def test_the_assistant_is_no_subject(self, text):
        with pytest.raises(Gated, match="conversation"):
            policy.check_third_person(text)


class TestFingerprint:
    @pytest.mark.parametrize(
        "other",
        [
            "  rosa HAD a café ",
            "Rosa had a cafe.",
            "«Rosa» had — a café!",
            "Rosa had a cafe\u0301",
            "Ｒosa had a café",
        ],
    )
    def test_case_accents_punctuation_and_blanks_do_not_count(self, other):
        assert policy.fingerprint(USER, "Rosa had a café") == policy.fingerprint(USER, other)

    def test_apostrophes_do_not_count(self):
        assert len({policy.fingerprint(USER, text) for text in ["didn't sing", "didn’t sing", "didnt sing"]}) == 1

    @pytest.mark.parametrize("other", ["Rosa had a bar", "a café had Rosa", "Rosa had acafé", "Rosa had 1 café"])
    def test_the_words_and_their_order_count(self, other):
        assert policy.fingerprint(USER, "Rosa had a café") != policy.fingerprint(USER, other)

    def test_marks_that_are_letters_count(self):
        assert policy.fingerprint(USER, "किताब है") != policy.fingerprint(USER, "कताब है")
        assert policy.fingerprint(USER, "かき") != policy.fingerprint(USER, "がき")

    def test_texts_without_a_word_differ(self):
        assert policy.fingerprint(USER, "!!!!!") != policy.fingerprint(USER, "?????")

    def test_two_people_have_two(self):
        assert policy.fingerprint(USER, "Rosa sang") != policy.fingerprint(OTHER, "Rosa sang")

    def test_a_former_key_is_still_known(self, settings):
        before = policy.fingerprint(USER, "Rosa sang")
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another key that is long enough for anybody, really"
        assert policy.fingerprint(USER, "Rosa sang") != before
        assert policy.fingerprints(USER, "Rosa sang") == [policy.fingerprint(USER, "Rosa sang"), before]
