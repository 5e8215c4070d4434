"""Numbers that belong to somebody: payment cards, bank accounts, national ids. Check digits come from python-stdnum.

Biographies contain many other numbers. A number is reported if its form identifies it (a card's prefix, length and
check digit; an id's separators and check digit), or if the words before it name it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator

from stdnum import iban, luhn
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.cl import rut
from stdnum.cn import ric
from stdnum.cz import rc
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.se import personnummer
from stdnum.us import ssn

Span = tuple[int, int]

# --- Dates, the most frequent numbers -----------------------------------------------------------

_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:1\d{3}|20\d\d)"
_DATE = (
    rf"(?:{_DAY}[./-]{_MONTH}[./-](?:{_YEAR}|\d\d)|{_MONTH}[./-]{_DAY}[./-](?:{_YEAR}|\d\d)"
    rf"|{_YEAR}[./-]?{_MONTH}[./-]?{_DAY}|{_YEAR})"
)
_DATES = re.compile(rf"{_DATE}(?:[ ./-]{{1,3}}(?:{_DATE}|\d\d))*")


def _is_date(number: str) -> bool:
    return _DATES.fullmatch(number) is not None


def _alone(pattern: str) -> re.Pattern[str]:
    """The pattern without an adjacent Latin letter or digit; letters of scripts without blanks may be adjacent."""
    return re.compile(rf"(?<![A-Za-z0-9+])(?:{pattern})(?![A-Za-z0-9])", re.IGNORECASE)


# Every number looked for has at least six digits, with little between them.
_MANY_DIGITS = re.compile(r"\d(?:[A-Za-z ./+-]{0,6}\d){5,}")

# --- Payment cards ----------------------------------------------------------------------------------------------

_DIGITS_APART = re.compile(r"(?<![A-Za-z0-9+])\d(?:[ ._/-]{0,3}\d){11,}")
_GROUP = re.compile(r"\d+")
_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-59]|[689]\d)\d{11,16}|35(?:2[89]|[3-8]\d)\d{12,15}|6\d{15,18}|5[0678]\d{14,17}|220[0-4]\d{12,15}"
    r"|8[12]\d{14}|9792\d{12}"
)
_ISSUED_SHORT = re.compile(r"(?:6\d|5[0678])\d{10,13}")
_CARD_WORDS = re.compile(
    r"(?:card|visa|master|maestro|amex|american express|diners|discover|credit|debit|karte|tarjeta|carte|cart[aã]o"
    r"|carta|kaart|kort|karty|kart[iı]|карт|卡|カード|카드|بطاقة|कार्ड|כרטיס)",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"(?:\b(?:isbn|ean|gtin|upc|imei|barcode|tel|phone|mobile|fax|telefon|handy|call(?:ed|ing)?"
    r"|tracking)\b[^\d]{0,14})$",
    re.IGNORECASE,
)
_CUSTOMARY = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 1), (8, 8), (4, 4, 4, 4, 2)}


def find_cards(text: str) -> Iterator[Span]:
    """Ranges of payment card numbers, with any grouping."""
    for run in _DIGITS_APART.finditer(text):
        before = text[max(0, run.start() - 40) : run.start()]
        if not _is_date(run.group()):
            named = _CARD_WORDS.search(before) is not None
            yield from _cards_in(run, named, not named and _OTHER_NUMBER.search(before) is not None)


def _cards_in(run: re.Match[str], named: bool, is_other: bool) -> Iterator[Span]:
    """Card numbers in a run of digits: the whole run or some of its groups, grouped as a card or named one."""
    groups = [(group.start() + run.start(), group.group()) for group in _GROUP.finditer(run.group())]
    first = 0
    while first < len(groups):
        digits = ""
        for last in range(first, len(groups)):
            digits += groups[last][1]
            if len(digits) > 19:
                break
            lengths = tuple(len(group) for _, group in groups[first : last + 1])
            whole = first == 0 and last == len(groups) - 1
            written_so = len(lengths) == 1 or lengths in _CUSTOMARY or set(lengths) == {1}
            if (named or whole or written_so) and _is_card(digits, named) and not (is_other and len(digits) < 16):
                yield groups[first][0], groups[last][0] + len(groups[last][1])
                first = last
                break
        first += 1


def _is_card(digits: str, named: bool) -> bool:
    issued = _ISSUED.fullmatch(digits) or (named and _ISSUED_SHORT.fullmatch(digits))
    return bool(issued) and luhn.is_valid(digits) and len(set(digits)) > 1


# --- Bank accounts ----------------------------------------------------------------------------------------------

_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ -]?\d{2}(?=(?:[ -]?[A-Za-z0-9]){11})")
_IBAN_REST = re.compile(r"[ -]?[A-Za-z0-9]")
_ACCOUNT_WORDS = re.compile(
    r"(?:account (?:number|no\b\.?|nr\b\.?|#)|acct\b|a/c\b|routing (?:number|no\b\.?|#)|sort code|\baba\b|\bclabe\b"
    r"|\bbsb\b"
    r"|kontonummer|konto-?nr\b\.?|\bblz\b|bankleitzahl|n[uú]m[eé]ro de (?:compte|cuenta)|n[uú]mero d[ae] conta|\brib\b"
    r"|numero (?:del |di )?conto|rekeningnummer|numer (?:konta|rachunku)|номер (?:сч[её]та|карты)|р/с"
    r"|расч[её]тный сч[её]т"
    r"|(?:银行)?(?:账号|帐号|賬號|帳號|账户号|卡号)|口座番号|계좌 ?번호|رقم الحساب|खाता संख्या|hesap numara\w*)",
    re.IGNORECASE,
)


def find_accounts(text: str) -> Iterator[Span]:
    """Ranges of international bank account numbers, and of numbers named as an account."""
    if not _MANY_DIGITS.search(text):
        return
    for start in _IBAN_START.finditer(text):
        end = _iban_end(text, start)
        if end:
            yield start.start(), end
    yield from _called(text, _ACCOUNT_WORDS, at_least=6)


def _iban_end(text: str, start: re.Match[str]) -> int:
    """The end of the longest valid IBAN that starts here; 0 without one."""
    end, longest, length = start.end(), 0, 4
    while length < 34 and (more := _IBAN_REST.match(text, end)):
        end, length = more.end(), length + 1
        if length >= 15 and not text[end : end + 1].isalnum() and iban.is_valid(text[start.start() : end]):
            longest = end
    return longest


# --- National ids -----------------------------------------------------------------------------------------------

_IDS: list[tuple[re.Pattern[str], Callable[[str], bool]]] = [
    (_alone(r"\d{3}-\d{2}-\d{4}"), ssn.is_valid),
    (_alone(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d"), nir.is_valid),
    (_alone(r"\d{8}[ -]?[A-HJ-NP-TV-Z]"), dni.is_valid),
    (_alone(r"[XYZ][ -]?\d{7}[ -]?[A-Z]"), nie.is_valid),
    (_alone(r"[A-Z]{6}\d\d[A-EHLMPR-T]\d\d[A-Z]\d{3}[A-Z]"), codicefiscale.is_valid),
    (_alone(r"\d{3}\.\d{3}\.\d{3}-\d\d"), cpf.is_valid),
    (_alone(r"\d{1,2}\.\d{3}\.\d{3}-[\dK]"), rut.is_valid),
    (_alone(r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d"), ahv.is_valid),
    (_alone(r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d"), nn.is_valid),
    (_alone(r"\d{6}[-+A]\d{3}[0-9A-Y]"), hetu.is_valid),
    (_alone(r"(?:\d\d)?\d{6}[-+]\d{4}"), personnummer.is_valid),
    (_alone(r"\d{6}/\d{4}"), rc.is_valid),
    (_alone(r"\d{17}[\dX]"), ric.is_valid),
    (_alone(r"\d{6}-[1-8]\d{6}"), rrn.is_valid),
    (_alone(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"), curp.is_valid),
    # National insurance numbers of the United Kingdom have no check digit.
    (_alone(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"), lambda _: True),
]
_ID_WORDS = re.compile(
    r"(?:\bssn\b|\bsin\b|\bnino\b|social (?:security|insurance)|national (?:insurance|id\b|identi\w+)|identity (?:card"
    r"|number)"
    r"|\bid (?:card|number|no\b\.?)|passport|driver'?s? licen[cs]e|driving licen[cs]e|tax (?:id|identification|number"
    r"|file)"
    r"|medicare|nhs number|reisepass|personalausweis|ausweis-?(?:nummer|nr)|steuer-?(?:id\w*|nummer)"
    r"|sozialversicherung\w*"
    r"|versicherungsnummer|ahv\b|f[uü]hrerschein\w*|passeport|s[eé]curit[eé] sociale|carte d.identit[eé]|\bdni\b"
    r"|\bnie\b"
    r"|\bnif\b|pasaporte|c[eé]dula|seguridad social|\bcurp\b|\bcpf\b|\brg\b|\bcuil\b|passaporte|passaporto"
    r"|codice fiscale"
    r"|carta d.identit[aà]|\bbsn\b|burgerservicenummer|paspoort|rijksregister\w*|pesel|paszport\w*|dow[oó]d osobisty"
    r"|personnummer|cpr-?nummer|f[oø]dselsnummer|henkil[oö]tunnus|rodn[eé] [cč][ií]slo|паспорт\w*|снилс|\bинн\b"
    r"|身份证|身分證|护照|護照|マイナンバー|個人番号|パスポート|旅券|주민등록|여권|جواز|الهوية|رقم قومي"
    r"|aadhaar|आधार|पासपोर्ट|\bpan (?:card|number)"
    r"|tc kimlik|kimlik numara\w*|pasaport\w*|ת\.?ז\.?|תעודת זהות|דרכון)",
    re.IGNORECASE,
)


def find_ids(text: str) -> Iterator[Span]:
    """Ranges of national ids with a known format, and of numbers named as an id, passport, …."""
    for digits in _MANY_DIGITS.finditer(text):
        start, end = max(0, digits.start() - 7), digits.end() + 8
        for pattern, is_valid in _IDS:
            for found in pattern.finditer(text, start, end):
                if is_valid(found.group().upper()):
                    yield found.span()
    yield from _called(text, _ID_WORDS, at_least=6)


# --- Numbers named by the words before them --------------------------------------------------------------------------

_CALLED = re.compile(
    r"(?<![\d+])(?<!\d[ ./-])\d(?:[ ./-]?\d){4,19}(?:[ .-]?[A-Za-z]{1,2}(?![A-Za-z]))?"
    r"|(?<![A-Za-z0-9])(?=(?:[A-Z]*\d){4})[A-Z0-9]{8,12}(?![A-Za-z0-9])"
)
_LETTERS = string.ascii_letters + " .-"
_SENTENCE_ENDS = re.compile(r"[.!?] [A-Z]")


def _called(text: str, words: re.Pattern[str], *, at_least: int) -> Iterator[Span]:
    """Ranges of numbers shortly after such words in the same sentence, except dates."""
    for found in _CALLED.finditer(text):
        number = found.group()
        digits = sum(character.isdigit() for character in number)
        is_code = len(number) >= 8 and number.isalnum() and number.isupper()
        if (digits < at_least and not is_code) or _is_date(number.rstrip(_LETTERS)):
            continue
        before = text[max(0, found.start() - 70) : found.start()]
        word = None
        for each in words.finditer(before):
            word = each
        if word and len(before) - word.end() <= 32 and not _SENTENCE_ENDS.search(before, word.end()):
            yield found.span()
