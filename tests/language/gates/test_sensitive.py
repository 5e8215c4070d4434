"""The gate for passwords, keys, card, account and national id numbers."""

import string
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stdnum import luhn

from accounts.policy import check_sensitive
from journal.exceptions import Gated
from language import gates
from tests.timing import fastest

from .labelled import VALUES, labelled

SET = labelled("sensitive")
REFUSED = [(kind, text) for kind, texts in SET["refused"].items() for text in texts]
PREFIXES = {"4": 16, "51": 16, "2221": 16, "34": 15, "37": 15, "3530": 16, "6011": 16, "62": 18}
SEPARATORS = ["", " ", "-", ".", " - ", "\u00a0", "\u2009", "\u2011", "\u200b"]
DIGITS = ["0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९"]


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_it_is_refused_and_the_reason_names_its_kind(kind, text):
    assert kind in {found.kind for found in gates.find_sensitive(text)}
    with pytest.raises(Gated) as refusal:
        check_sensitive(text)
    assert refusal.value.status == 422
    assert refusal.value.code == "gate"
    assert refusal.value.extra == {"kind": refusal.value.extra["kind"]}
    assert refusal.value.extra["kind"] in SET["refused"]
    assert refusal.value.extra["kind"] in refusal.value.detail


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_masking_leaves_nothing_that_the_gate_finds_and_names_the_kind(kind, text):
    masked = gates.mask_sensitive(f"Rosa baked bread. {text}")
    assert gates.find_sensitive(masked) == []
    assert masked.startswith("Rosa baked bread.")
    assert " removed]" in masked


@pytest.mark.parametrize("text", SET["passed"])
def test_what_a_biography_is_full_of_passes(text):
    assert gates.find_sensitive(text) == []
    assert gates.mask_sensitive(text) == text


def test_the_error_holds_no_value():
    for name, value in VALUES.items():
        with pytest.raises(Gated) as refusal:
            check_sensitive(f"Hers was {value} until May.")
        assert value not in f"{refusal.value!r} {refusal.value.detail} {refusal.value.extra}", name


def test_a_finding_says_where_in_the_original_it_stands():
    text = "Роза: ４１１１\u200b １１１１ １１１１ １１１１, да"
    (found,) = gates.find_sensitive(text)
    assert text[found.start : found.end] == "４１１１\u200b １１１１ １１１１ １１１１"
    assert gates.mask_sensitive(text) == "Роза: [payment card number removed], да"


def test_findings_that_overlap_are_masked_as_one():
    masked = gates.mask_sensitive(f"password: {VALUES['github']} and 4111 1111 1111 1111")
    assert masked.count("removed]") == 2
    assert "ghp_" not in masked
    assert "4111" not in masked


BODY = "aB3dE5gH7jK9mN2pQ4rS"


@pytest.mark.parametrize(
    "token",
    [
        *(f"gh{kind}_{BODY}{BODY[:16]}" for kind in "pousr"),
        *(f"{kind}-{BODY}" for kind in ("glpat", "gldt", "glcbt", "glcbt-1f_", "glagent-" + 3 * BODY)),
        f"https://rosa:{BODY}@example.org",
        f"//registry.npmjs.org/:_authToken=npm_{BODY}{BODY[:16]}",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{BODY}",
        f"eyJ{10 * BODY}.{100 * BODY}.{BODY}",
        f"xoxb-123456789012-{BODY}",
        f"sk-{BODY}T3BlbkFJ{BODY}",
    ],
)
@pytest.mark.parametrize("before", [0, 995, 31_000])
def test_a_token_is_masked_to_its_end_wherever_it_stands(token, before):
    masked = gates.mask_sensitive(f"{'bees ' * (before // 5)}It was {token} in May, she said.")
    assert BODY[:8] not in masked
    assert "1f_" not in masked
    assert masked.startswith("bees " * (before // 5) + "It was ")
    assert masked.endswith("in May, she said.") or "npm" in token


def test_what_stands_right_behind_a_token_stays():
    assert gates.mask_sensitive(f"鍵はghp_{BODY}{BODY[:16]}です。") == "鍵は[access token removed]です。"


@st.composite
def cards(draw, valid=True):
    """A card number of a known issuer, and the same written in some grouping with some separator and digits."""
    prefix = draw(st.sampled_from(sorted(PREFIXES)))
    body = draw(st.text("0123456789", min_size=17, max_size=17))
    digits = (prefix + body)[: PREFIXES[prefix] - 1]
    digits += luhn.calc_check_digit(digits) if valid else str((int(luhn.calc_check_digit(digits)) + 1) % 10)
    assume(len(set(digits)) > 1)
    separator = draw(st.sampled_from(SEPARATORS))
    cuts = draw(st.sets(st.integers(1, len(digits) - 1)))
    groups = [digits[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), len(digits)], strict=True)]
    script = draw(st.sampled_from(DIGITS))
    return separator.join(groups).translate(str.maketrans("0123456789", script))


@settings(deadline=None)
@given(
    cards(),
    st.sampled_from(["It was ", "", "番号は", "Number: ", "("]),
    st.sampled_from(["", ".", " she said", "です"]),
)
def test_a_valid_card_number_is_refused_in_any_grouping(number, before, after):
    assert "payment card number" in {found.kind for found in gates.find_sensitive(before + number + after)}


@settings(deadline=None)
@given(cards(valid=False))
def test_a_number_with_a_wrong_check_digit_is_no_card(number):
    # As one run: a group of its digits, standing alone, can be a shorter card's.
    number = "".join(filter(str.isdecimal, number))
    assert "payment card number" not in {found.kind for found in gates.find_sensitive(f"It was {number}.")}


@settings(deadline=None)
@given(st.text(max_size=500))
def test_masking_is_total_and_final(text):
    masked = gates.mask_sensitive(text)
    assert gates.find_sensitive(masked) == []
    assert gates.mask_sensitive(masked) == masked


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([text for _, text in REFUSED]), min_size=2, max_size=4), st.sampled_from([" ", ". ", ""])
)
def test_masking_is_final_for_several_at_once(texts, between):
    assert gates.find_sensitive(gates.mask_sensitive(between.join(texts))) == []


@settings(deadline=None)
@given(st.text(string.digits + " .-/", max_size=200))
def test_runs_of_digits_are_read_in_time(text):
    for found in gates.find_sensitive(text):
        assert 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Her token is ghp_" + "a1B2" * 9 + ".", "holds an access token"),
        ("Her card is 4111 1111 1111 1111.", "holds a payment card number"),
    ],
)
def test_a_refusal_is_said_in_good_english(text, said):
    with pytest.raises(Gated, match=said):
        check_sensitive(text)


@pytest.mark.parametrize(
    "number",
    [
        "07045483-f17b-4766-9377-06461174b813",
        "22570405-4849-495a-bb36-a1615cb9787b",
        "BA9A4E07-C90B-4166-ABA9-1330342765D9",
    ],
)
def test_a_random_id_is_no_number_of_somebody(number):
    """A UUID of every few thousand reads like one: an agent's key was refused."""
    assert gates.first_sensitive(f"key: {number}") is None
    assert gates.first_sensitive(f"key: {number}, card 4111 1111 1111 1111") is not None


@pytest.mark.parametrize("part", ["1-", "--"])
def test_what_looks_for_random_ids_takes_time_by_the_length_of_a_text(part):
    """Where each dash had the rest of the text looked through, eight times the text took sixty times as long."""

    def seconds(text):
        began = time.thread_time()
        assert gates.first_sensitive(text) is None
        return time.thread_time() - began

    short, long = part * 2_000, part * 16_000
    least = min(seconds(short) for _ in range(3))
    assert fastest(lambda: seconds(long), below=24 * least, tries=3) < 24 * least
