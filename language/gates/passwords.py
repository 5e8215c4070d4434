"""Finds passwords, passphrases, PINs and access codes by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .words_of_secrets import (
    CODE_STEMS,
    CODES,
    DIGITS,
    ENDS,
    FUNCTION_WORD,
    HAS_NUMBER,
    JOIN,
    LOCKS,
    MIXED,
    NAMES_OF_PASSWORDS,
    NAMES_OF_PASSWORDS_CJK,
    NUMBER_JOIN,
    OF_WHAT,
    OPENS,
    OTHER_CODE,
    OTHER_CODE_AFTER,
    PASSWORD_STEMS,
    PINS,
    QUOTE,
    SAID_ABOUT,
    SPELLED,
    TELLING,
    WITH,
    YEAR,
)

Span = tuple[int, int]

_PASSWORD_VALUE = re.compile(
    rf"(?:(?<![^\W_])|\bה|\bال)(?:{NAMES_OF_PASSWORDS})(?![^\W_])(?P<join>{OF_WHAT}{JOIN}|\s+(?=\S*\d)"
    rf"|(?:\s[^\W\d][^\s\d.,;]*){{1,4}}?\s(?=\S*\d)(?=\S*[^\W\d_])(?=\S{{5}})|(?:\s[^\W\d]+){{1,3}}\s?[:=]\s*"
    rf"|\s(?=(?-i:[A-Z][a-z]{{3,}})\W*$)"
    rf"|,\s(?=[^\s,]*\d)(?=[^\s,]*[A-Za-z]))(?P<quote>{QUOTE}?)(?P<value>(?!\[)[^\s\"“”«»„`\[\]]{{3,}})",
    re.IGNORECASE,
)
_PASSWORD_NUMBER = re.compile(
    rf"(?<![^\W_])(?:{NAMES_OF_PASSWORDS}"
    rf"|{PINS})(?![^\W_])[^.:;=\d\[\]]{{0,40}}?(?P<join>{NUMBER_JOIN}){QUOTE}?(?P<value>{SPELLED}|{DIGITS}){ENDS}",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    rf"(?<![^\W_])(?:{NAMES_OF_PASSWORDS})(?![^\W_])(?:{OF_WHAT}{JOIN}"
    rf"|(?<=phrase)\s){QUOTE}?(?P<value>[^\W\d]{{3,}}(?:[ -][^\W\d]{{2,}}){{2,9}})(?=\W*(?:$|[.,;!?\"”»]))",
    re.IGNORECASE,
)
_SIGNED_IN = re.compile(
    r"(?:\b(?:user(?: ?name)?|log-?in|e-?mail|account|benutzer\w*|usuario|utilisateur|identifiant|credentials"
    r"|zugangsdaten|sign(?:s|ed)? in"
    r"|log(?:s|ged)? in)\b)(?:[^.\n\[\]]|\.(?=\S)){0,60}?(?:pass ?(?:word|wort|code)|pw|contraseña|mot de passe"
    r"|kennwort|senha)\s+"
    r"(?P<value>(?!for\b|of\b|was\b|is\b|and\b|reset\b|which\b|that\b)[^\s\[\]]{3,})(?=[.,;!?]?(?:$|\s*$|[.,;!?]\s))"
    r"|(?:\b(?:sign|log)(?:s|ged|ged)? ?in with|\b(?:credentials|zugangsdaten|logins?|anmeldedaten)\b\s*(?:are"
    r"|is|sind|:)?)\s+\S{3,40}?\s*(?:/|and|und|,|:)\s*"
    r"(?P<second>(?=\S*[\d!#$%&*?])[^\s\[\]]{4,})",
    re.IGNORECASE,
)
_CJK_PASSWORD = re.compile(
    rf"(?:{NAMES_OF_PASSWORDS_CJK}|暗証番号|รหัสผ่าน)[^\s\w\[]{{0,3}}\s*(?:是|为|為|は|가|이|는|은|คือ|:|:"
    rf"|=)?\s*[「『\"“:]?"
    r"(?P<value>(?=[!-~]*[0-9!-/:-@])(?!\[)[!-Z\\^-~]{4,}|(?<=[「『\"“])[^」』\"”\[]{3,})"
)
_PIN_VALUE = re.compile(
    rf"(?<![^\W_])(?:{PINS})(?![^\W_])[^.:;=\d\[\]]{{0,25}}?(?P<join>{JOIN})?\s?{QUOTE}?(?P<value>\d{{3,8}}){ENDS}",
    re.IGNORECASE,
)
_CODE_VALUE = re.compile(
    rf"(?:(?<![^\W_])|\bה)(?P<noun>{CODES})(?![^\W_])(?P<rest>(?:{OF_WHAT}"
    rf"|[^.:;=\d\[\]]{{1,45}}?)(?P<join>{NUMBER_JOIN})"
    rf"|\s?(?=\d)|\s(?={SPELLED})|{OF_WHAT}\s(?=\d{{4}})|(?: [^\W\d]+){{1,3}}\s(?=\d{{4}}))"
    rf"{QUOTE}?(?P<value>{SPELLED}|(?i:{DIGITS})|(?-i:{MIXED})){ENDS}",
    re.IGNORECASE,
)
_CODE_JOINED = re.compile(
    r"(?:รหัส(?!ไปรษณีย์)|暗証番号|(?<!邮政)密码|密碼|(?<!郵便)コード|코드|비밀번호"
    r"|암호)[^.:\d\[\]]{0,20}?(?:[:=]|คือ|は|是|为|為|가|이|은|는"
    r"|\s)\s*(?P<value>\d{3,8})(?!\d)"
)
_LOCK = (
    r"(?:door|gate|garage|alarm|safe|keypad|lock ?box|key ?safe|padlock|phone|mobile|tablet|ipad|iphone|laptop"
    r"|computer|vault|locker|shed"
    r"|suitcase|lock|elevator|lift|house|flat|apartment|building|office|tür\w*|tor|safe|tresor|schloss|haus"
    r"|garage|alarm\w*)"
)
_OPENED = re.compile(
    r"\bby (?:typing|entering|dial+ing|pressing|keying in|punching in"
    r"|tapping)(?: in)? (?P<typing>\d{3,8}[#*]?)(?!\d|[.,]\d| [a-z]{3})"
    r"|(?<![\d.,:/-])(?P<what>\d{3,8}[#*]?) is what (?:opens|unlocks|disarms|turns)\b|"
    rf"(?<![^\W_]){_LOCK}\b[^.:;=\d\[\]]{{0,40}}?\b(?:opens?|opened|unlocks?|unlocked|disarmed|turned off"
    rf"|switched off|deactivated|entered|gets? you in"
    rf"|öffnet|geht|öffnen|entsperrt)\b[^.:;=\d\[\]]{{0,10}}?\b(?:with|by|using|via|mit)(?: (?:the |den |der "
    rf"|die )?(?:codes?|numbers?|digits|combination|zahlen|ziffern))?"
    rf" (?P<value>{DIGITS}){ENDS}"
    rf"|\b(?:type|types|enter|enters|key in|punch in|punches in|press|presses|dial|dials|tap in|tap|use|uses"
    rf"|input|try|tippe|gib)\s+(?:in )?(?P<typed>\d{{3,8}}[#*]?)(?!\d|[.,]\d)\s+"
    rf"(?:on the (?:key|number|num)\w*|at the {_LOCK}|into the {_LOCK}|as (?:the |her |his |their "
    rf"|a )?(?:\w+ )?(?:code|pin|password|combination|passcode)|to (?:open|unlock|disarm|enter|get (?:in|into"
    rf"|past|through|inside)|turn off|switch off|silence)"
    rf"|ein)\b"
    rf"|(?<![\d.,:/-])(?P<before>\d{{3,8}}[#*]?)\s+(?:is|was|=|ist|war|opens?|unlocks?|öffnet|disarms"
    rf"|turns?(?: off)?|deactivates|silences)\s+(?:(?:the|her|his|my|our|their|a|die|der|das|den|ihre?"
    rf"|seine?)\s+){{0,2}}"
    rf"(?:[a-zäöü]+ ){{0,2}}?(?:(?:[a-zäöü]*(?:code|pin|password|passcode|combination|kombination|passwort"
    rf"|geheimzahl))|(?<=s ){_LOCK}|(?<=t ){_LOCK}|(?<=e ){_LOCK}|(?<=r ){_LOCK})\b"
    rf"|\b(?:safe|vault|padlock|suitcase|lock ?box|locker|lock|keypad)\b (?:(?:is |was )?(?:set|programmed"
    rf"|locked) (?:to|with|at)|takes|accepts|wants|expects|needs|is|was) (?P<set>{DIGITS}){ENDS}"
    rf"|\bto (?:open|unlock|disarm|enter|get in|turn off|switch off|deactivate)\b[^.:;=\d\[\]]{{0,40}}?\b(?:type"
    rf"|enter|press|dial|use|punch in|key in|tap)(?: in)? (?P<then>\d{{3,8}}[#*]?){ENDS}"
    rf"|\b(?:gate|door|safe|alarm|garage|vault|locker|keypad|lift|tor|tür|tresor|haustür"
    rf"|eingang)\s*[:=]\s*(?P<named>\d{{4,8}}[#*]?|\d{{1,2}}(?:-\d{{1,2}}){{2,3}}){ENDS}"
    rf"|\b(?:code ?word|codewort|kennwort)\b[^.:\[\]]{{0,12}}(?:alarm|bank|security|sicherheit|konto|account"
    rf"|wachdienst|notruf)[^.:\[\]]{{0,25}}?(?:\b(?:is|was|lautet|ist)\b|:)\s+(?P<word>[^\s\[\]]{{3,}})"
    rf"|\b(?:key ?safe|lock ?box|keypad|padlock|schlüssel(?:safe|box|kasten)|bike lock"
    rf"|door lock)\b[^.:;=\d\[\]]{{0,30}}[:=]\s*(?P<colon>{DIGITS}){ENDS}",
    re.IGNORECASE,
)
_ONE_TIME = re.compile(
    r"(?<![^\W_])(?:back-?up|recovery|one[- ]time|sms|verification|otp|2fa|mfa|tan|tans|authenticat\w+|einmal"
    r"|bestätigungs|wiederherstellungs"
    r"|activation|licen[cs]e|product|reset|emergency access|puk|access)[ -]?(?:codes?|keys?|pins?|passwor[dt]s?"
    r"|schlüssel|tokens?)?"
    rf"(?:{OF_WHAT}{JOIN}|\s+)(?P<value>\d{{6,8}}|\d{{3,4}}[ -]\d{{3,4}}"
    rf"|(?-i:[A-Z0-9]{{4,8}}(?:-[A-Z0-9]{{4,8}}){{1,7}}))(?![\w-])",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:secret answer|security (?:question's )?answer|geheime antwort|réponse secrète"
    r"|respuesta secreta)\b[^.:\[\]]{0,30}?(?::|\b(?:is|was|ist|war|est|es))\s+(?P<secret>[^\s\[\]]{2,})"
    r"|\b(?:answer|reply|antwort|réponse|respuesta)\b[^.:\[\]]{0,12}\b(?:her|his|the|their|my|die|ihre|seine|la"
    r"|sa)\b[^.:\[\]]{0,12}"
    r"(?:security|secret|sicherheits|secr[eè]te|secreta)[^.:\[\]]{0,12}(?:question|frage|pregunta)\w*\s*(?::|is"
    r"|was|ist|war|est|es)\s+(?P<value>[^\s\[\]]{2,})",
    re.IGNORECASE,
)
# Made-up words, which nothing else in a sentence looks like: letters with a digit and a mark, or a mark inside.
_MADE_UP = (
    r"(?=[^\s!#$%&*?_^~+=@-]*[!#$%&*?_^~+=@]|[^\s-]{4})(?=\S*[^\W\d_])(?=\S*\d)(?!\S*(?:://|@\w+\.))"
    r"[^\W_][^\s\"“”«»„`\[\]/]{5,}|[^\W\d_]{3,}[!#$%*?_^~+][^\W_][^\s\"“”«»„`\[\]]{2,}"
    r"|(?<=[,:] |s )[^\W\d_]{4,}\d{2,4}(?=\W*$)"
)
_MADE_UP_LATER = re.compile(
    rf"(?<![^\W_])(?:{NAMES_OF_PASSWORDS}|(?<=, )pass|identifiants|zugang)(?![^\W_])[^!?\n\[\]]{{1,90}}?"
    rf"(?<=[\s(\"'“„«/])(?P<value>{_MADE_UP})"
    r"|\b(?:sign|log)(?:s|ged|ged)? (?:in ?to|on ?to|in|on|into)\b[^!?\n\[\]]{1,60}?\b(?:with|as|using|and)\b"
    rf"[^!?\n\[\]]{{0,40}}?(?<=[\s\"'“„«])(?P<signed>{_MADE_UP})",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    rf"(?<![^\W_])(?:{NAMES_OF_PASSWORDS}|code ?word|codewort|safe word|seed)(?![^\W_])(?:{OF_WHAT}{JOIN}|\s)"
    r"[\"“„«「](?P<value>[^\"”»」\[\]]{3,60})[\"”“»」]",
    re.IGNORECASE,
)
_TURNED_ROUND = re.compile(
    rf"(?<![^\W_])(?:{NAMES_OF_PASSWORDS}|{PINS}|codes?)(?![^\W_])[^.!?\n\[\]]{{1,40}}?\b(?:is|ist|est|es|è)\s"
    r"(?P<value>[^.!?\n\[\]]{3,60}?\b(?:back(?:wards?|to front)|in reverse|reversed|turned round|rückwärts|umgekehrt"
    r"|à l'envers|al revés|al contrario|alla rovescia|baklänges|achterstevoren|wspak)\b[^.!?\n\[\]]{0,30})",
    re.IGNORECASE,
)
_OPENED_ANYWHERE = re.compile(
    rf"(?<![^\W_])(?:{LOCKS})(?![^\W_])[^.:;=\d\[\]]{{0,60}}?(?<![^\W_]){OPENS}(?![^\W_])[^.:;=\d\[\]]{{0,25}}?"
    rf"(?<![^\W_]){WITH}(?:\s(?:the|a|den|der|die|das|le|la|el|il|o|de|code|codes?|numbers?|digits|combination|zahlen"
    rf"|ziffern))*\s(?P<value>\d{{1,2}}(?: ?[-–/] ?\d{{1,2}}){{2,5}}|\d{{1,2}}(?: (?:left|right|links|rechts)"
    rf"|(?:, | )\d{{1,2}}(?=, | )|,){{1}}(?:[ ,]+(?:and |then )?\d{{1,2}}(?: (?:left|right|links|rechts))?){{2,4}}"
    rf"|\d{{3,4}}[#*]?(?![-–/.,]?\d)|\d{{6}}|{SPELLED}){ENDS}(?!\s(?-i:[A-ZÄÖÜ][a-zäöü]))"
    rf"|(?<![^\W_])(?:{LOCKS})(?![^\W_])\s(?P<turkish>\d{{4,8}}) ile aç"
    rf"|(?<![^\W_])(?:{LOCKS})(?![^\W_])[^.;=\d\[\]]{{0,40}}?\b(?:takes?|wants?|needs?|accepts?|expects?|is set to"
    rf"|is locked with|has|asks for|steht auf|braucht|will)\b(?:\s(?:the|die|den) (?:\w+ )?(?:numbers?|digits?|codes?"
    rf"|combination|zahlen|ziffern))?,?\s(?P<taken>{SPELLED}|\d(?:, ?\d){{3,7}}|\d{{1,2}} (?:left|right|links"
    rf"|rechts)(?:,? (?:and |then )?\d{{1,2}}(?: (?:left|right|links|rechts))?){{1,4}}|\d{{1,2}}(?:-\d{{1,2}}){{2,4}}"
    rf"){ENDS}"
    rf"|(?:右|左)\d{{1,2}}(?:[、,]?(?:右|左)\d{{1,2}}){{1,4}}",
    re.IGNORECASE,
)
_ASKED_FOR = re.compile(
    r"\b(?:bank|security|secret|recovery|reset|account|sicherheits\w*|geheim\w*|secr[eè]te|de seguridad|segreta)\b"
    r"[^.\n\[\]]{0,30}?\b(?:questions?|fragen?|question|pregunta|domanda)\b[^\n\[\]]{0,70}?\b(?:answers?|antwort\w*"
    r"|r[ée]pon\w+|respuesta|risposta|with)\b[^.\n\[\]]{0,20}?(?:\s(?:is|was|ist|est|es|è|lautet|are)|:|\bwith\b)\s"
    r"(?P<value>[^.\n\[\]]{2,40})"
    r"|\banswer to the (?:\w+ )?question about (?:her|his|their|the|my)\b[^.\n\[\]]{1,40}?\b(?:is|was|put|gave|chose"
    r"|entered)\s(?P<put>(?-i:[A-ZÀ-Þ])[^.\n\[\]]{1,40})"
    r"|\bmother's maiden name\b[^.\n\[\]]{0,40}?\b(?:bank|security|recovery)\b[^.\n\[\]]{0,30}?\b(?:is|was|as)\s"
    r"(?P<maiden>(?-i:[A-ZÀ-Þ])\w+)"
    r"|\b(?:bank|security|recovery)\b[^.\n\[\]]{0,40}?\bmother's maiden name\b[^.\n\[\]]{0,30}?\b(?:is|was|as)\s"
    r"(?P<named>(?-i:[A-ZÀ-Þ])\w+)"
    r"|\b(?:distress|duress|code|safe|magic) ?word\b[^.\n\[\]]{0,10}\b(?:alarm|bank|security|insurance|day ?care"
    r"|school|pick-up)\b[^.\n\[\]]{0,25}?\b(?:is|was|reads)\s(?P<word>\w{3,})",
    re.IGNORECASE,
)
_ON_THE_CARD = re.compile(
    r"\b(?:card|visa|master ?card|amex|american express|karte|carte|tarjeta|carta|kaart|kort|karta|карт\w+)\b"
    r"[^.\n\[\]]{0,80}?\b(?:(?:security|check|verification|verifying|back|three|four|last three|four-digit"
    r"|three-digit"
    r"|prüf|sicherheits)\W?(?:number|digits?|figures?|codes?|ziffern?|zahl)|on the back)\b[^.\d\n\[\]]{0,20}?"
    r"(?P<value>\d{3,4}|\d(?:,? \d){2,3})(?![\d.,]\d|\d)",
    re.IGNORECASE,
)
_PATTERNS_OF_PASSWORDS = (_SIGNED_IN, _CJK_PASSWORD, _MADE_UP_LATER, _QUOTED, _TURNED_ROUND)
_PATTERNS_OF_NUMBERS = (_CODE_JOINED, _OPENED, _OPENED_ANYWHERE, _ONE_TIME, _ANSWER, _ASKED_FOR, _ON_THE_CARD)


def find_passwords(text: str) -> Iterator[Span]:
    """Ranges of passwords, passphrases, PINs and other codes, by the words around them.

    A word after "is" counts as a password if it ends the clause or has a digit, a symbol or an inner capital; "the
    password was the name of her dog" has none. A code consists of digits and belongs to something that can be opened.
    """
    low = text.casefold()
    is_named = any(map(low.__contains__, PASSWORD_STEMS))
    if is_named:
        yield from _passwords(text)
    if (is_named or any(map(low.__contains__, CODE_STEMS))) and HAS_NUMBER.search(text):
        yield from _codes(text)


def _passwords(text: str) -> Iterator[Span]:
    for found in _PASSWORD_VALUE.finditer(text):
        if _gives_away(found, text):
            yield found.span("value")
    for found in _PHRASE.finditer(text):
        words = found["value"].split()
        if not (FUNCTION_WORD.search(found["value"]) or (len(words) < 4 and SAID_ABOUT.fullmatch(words[0]))):
            yield found.span("value")
    for pattern in _PATTERNS_OF_PASSWORDS:
        yield from _groups(pattern, text)


def _codes(text: str) -> Iterator[Span]:
    for pattern in (_PASSWORD_NUMBER, _PIN_VALUE):
        for found in pattern.finditer(text):
            if not _is_postal(found) and (found["join"] or not YEAR.fullmatch(found["value"])):
                yield found.span("value")
    for found in _CODE_VALUE.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()] + found["noun"]
        noun = re.search(r"\w+$", found["noun"])
        of_something = before[: len(before) - len(noun.group())] if noun else before
        stem = re.sub(r"(?:code|k[oó]d)\w{0,4}$", "", noun.group(), flags=re.IGNORECASE) if noun else ""
        other = OTHER_CODE.search(of_something + stem) or OTHER_CODE_AFTER.match(found["rest"])
        if not other and not _is_postal(found) and (found["join"] or not YEAR.fullmatch(found["value"])):
            yield found.span("value")
    for pattern in _PATTERNS_OF_NUMBERS:
        yield from _groups(pattern, text)


def _is_postal(found: re.Match[str]) -> bool:
    """A six-digit PIN code is a postal code in India."""
    return found.group()[:8].casefold() in {"pin code", "पिन कोड "} and len(found["value"]) == 6


def _groups(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for found in pattern.finditer(text):
        yield next((found.span(name) for name, value in found.groupdict().items() if value), found.span())


def _gives_away(found: re.Match[str], text: str) -> bool:
    value = found["value"].rstrip(".,;!?)'’")
    # "To" means "is" in Polish; elsewhere no lone word after it is a password.
    if len(value) < 3 or (found["join"].strip() == "to" and not TELLING.match(value)):
        return False
    if TELLING.match(value) and not value.isdecimal():
        return not re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)|\d+[.,:/-]\d+\S*|\d+s", value)
    marked = re.search("[:=]", found["join"]) is not None
    if value.isdecimal():
        return marked or (len(value) >= 4 and not YEAR.fullmatch(value))
    if found["quote"] or marked:
        return not (SAID_ABOUT.fullmatch(value) and not found["quote"])
    if not found["join"].strip():
        return False
    ends = re.match(r"[\"'”’]?\s*(?:[.,;!?)]|$|and\b|und\b|et\b|y\b)", text[found.start("value") + len(value) :])
    return ends is not None and not SAID_ABOUT.fullmatch(value)
