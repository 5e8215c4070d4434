"""Names of people, agents and legacies: normalisation, validation, and the issuer of a caller's names.

Rooms that depend on this one register how to look up what a person rejected, which a name must not repeat.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from uuid import UUID

import regex as re
from confusable_homoglyphs import categories as scripts
from confusable_homoglyphs import confusables
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from journal.exceptions import Gated, Refused
from language.gates import find_instructions, first_sensitive
from language.gates.judging import order_as_name

from ..principals import Principal, sees_everything

LOCAL_ISSUER = "local"
_INVISIBLE = re.compile(r"[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\u2800]")
_NOT_SHOWN = re.compile(
    r"[[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800]--[\u200c\u200d\ufe0e\ufe0f]]"
    r"|(?<=[\p{Latin}\p{N}\s]|^)[\u200c\u200d]",
    re.V1,
)
"""What nobody sees. The joiners shape letters of some scripts and emoji, but no Latin ones."""
_WRITTEN_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)


def normal_name(name: str) -> str:
    """Normalise a person's name for storage and lookup: NFKC, case folding, single blanks.

    NFKC is applied again after folding, because folding can decompose characters.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


LONGEST_NAME = 255
"""The most characters of a normalised name of a person at an issuer."""


PARKED = "PARKED "
"""The prefix of a name that finds nobody. It has capitals, so no normalised name of a request can match it."""


def parked_name(pk: object, name: str, longest: int) -> str:
    """Return the replacement of an ambiguous name, until a superuser decides whose it is."""
    return f"{PARKED}{pk} {name}"[:longest]


def check_name_of_person(name: str, code: str = "bad_user") -> None:
    """Raise Refused (400) for a name that looks like another one. Pass the raw name, before ``normal_name``.

    It refuses invisible and bidirectional control characters, and mixed scripts, such as a Cyrillic а among Latin
    letters (UTS 39, "highly restrictive"). It also refuses look-alikes of ASCII characters by Unicode's table of
    confusables: ɡ for g or ‐ for -, and names in another script of which all letters are look-alikes ("сара"). The
    Turkish ı is allowed, because whole languages use it.
    """
    if name.isascii() and name.isprintable():
        return
    if _INVISIBLE.search(name):
        raise Refused(_("A person's name has no invisible characters."), code=code)
    mixed = scripts.unique_aliases(unicodedata.normalize("NFKC", name)) - {"COMMON", "INHERITED"}
    if len(mixed) > 1 and not any(mixed <= together for together in _WRITTEN_TOGETHER):
        found = ", ".join(sorted(map(str.title, mixed)))
        raise Refused(
            _("A person's name has letters of one script. This one mixes %(found)s.") % {"found": found}, code=code
        )
    for form in (unicodedata.normalize("NFKC", name), normal_name(name)):
        alike = _like_ascii(form)
        strange = "".join(each for each in alike if scripts.alias(each) in {"LATIN", "COMMON", "INHERITED"})
        letters = {each for each in form if each.isalpha()}
        if strange or (letters and letters <= alike.keys()):
            shown = ", ".join(f"U+{ord(each):04X} for {alike[each]}" for each in sorted(strange or letters))
            raise Refused(
                _("A person's name has no look-alikes. This one has %(shown)s.") % {"shown": shown}, code=code
            )


def _like_ascii(text: str) -> dict[str, str]:
    """Map the characters of a text that look like an ASCII character to that character."""
    found = confusables.is_confusable(text, greedy=True) or []
    looks = {each["character"]: [like["c"] for like in each["homoglyphs"]] for each in found}
    ascii_ones = {each: [like for like in likes if len(like) == 1 and like.isascii()] for each, likes in looks.items()}
    return {each: likes[0] for each, likes in ascii_ones.items() if likes and not each.isascii() and each != "ı"}


def issuer_of_names(principal: Principal) -> str:
    """Return the issuer of the caller's names of people: a service's own, otherwise ``local`` (user names)."""
    return principal.issuer if principal.service else LOCAL_ISSUER


def names_to_invite(principal: Principal, names: Collection[str]) -> list[str]:
    """Return the distinct normalised names. Raises Refused (400) for impossible names.

    No user is looked up, so that nothing reveals whether a name exists.
    """
    for name in names:
        check_name_of_person(name)
    spelled = list(dict.fromkeys(normal_name(name) for name in names))
    for name in spelled:
        if issuer_of_names(principal) == LOCAL_ISSUER:
            check_username(name)
        elif not 1 <= len(name) <= LONGEST_NAME:
            raise Refused(
                _("A person's name has 1 to %(longest_name)s characters.") % {"longest_name": LONGEST_NAME},
                code="bad_user",
            )
    return spelled


def check_username(username: str) -> None:
    """Raise Refused (400 ``bad_username``) for an invalid user name."""
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise Refused(
            _("%(value)s is not a user name.") % {"value": repr(username[:50])}, code="bad_username"
        ) from error
    if len(username) > 150:
        raise Refused(_("A user name has at most 150 characters."), code="bad_username")


def clean_name(name: str, longest: int) -> str:
    """Return the name of an agent, person or legacy as it is shown: on one line, single blanks, nothing invisible.

    Raises Refused (400) for a bad length.
    """
    refused = "\x00" in name
    name = " ".join(_NOT_SHOWN.sub("", " ".join(name.split())).split())
    if refused or not 1 <= len(name) <= longest:
        raise Refused(_("A name has 1 to %(longest)s characters.") % {"longest": longest}, code="bad_name")
    return name


def clean_display_name(name: str) -> str:
    """Return a person's display name in its stored form, or "". Raises as ``clean_shown_name``."""
    return clean_shown_name(name, 100) if name.strip() else ""


def clean_shown_name(name: str, longest: int = 200) -> str:
    """Return a name that prompts and others show, in its stored form. Not in a transaction.

    Raises Refused (400), and Gated (422) for sensitive data and instructions.
    """
    name = clean_name(name, longest)
    check_sensitive(name)
    if reason := find_instructions(name) or order_as_name(name):
        raise Gated(_("The name was refused because it %(reason)s.") % {"reason": _(reason)})
    return name


def check_instructions(text: str, refusal: str, **named: str) -> None:
    """Raise Gated (422) for instructions to a model. ``refusal`` is a format string with ``reason`` and ``named``."""
    reason = find_instructions(text)
    if reason:
        raise Gated(refusal % {"reason": _(reason), **named})


def check_sensitive(text: str) -> None:
    """Raise Gated (422) with the kind of the first sensitive data in a text. The error does not contain the value."""
    found = first_sensitive(text)
    if found is not None:
        article = "an" if found.kind[0] in "aeiouAEIOU" else "a"
        raise Gated(
            _("The text holds %(article)s %(kind)s. Such data is not stored.")
            % {"article": article, "kind": _(found.kind)},
            kind=found.kind,
        )


RejectedCheck = Callable[[UUID, Sequence[str]], bool]
_rejected_checks: list[RejectedCheck] = []


def register_rejected_check(check: RejectedCheck) -> None:
    """Register a check: whether one of several texts repeats what the person rejected."""
    _rejected_checks.append(check)


def rejected_before() -> Gated:
    """Return the error for what a person rejected or deleted."""
    return Gated(_("The person rejected or deleted this before. Only they can bring it back."), code="rejected_before")


def check_name_not_rejected(principal: Principal, *texts: str) -> None:
    """Raise Gated (422 ``rejected_before``) if a name repeats what the person rejected, unless they chose it.

    An agent that does not see everything would learn by it what it must not know, so its names are not compared.
    """
    if principal.user_id is None or principal.speaks_as_person or not sees_everything(principal):
        return
    if _repeat_rejected(principal.user_id, texts):
        raise rejected_before()


def _repeat_rejected(user_id: UUID, texts: Sequence[str]) -> bool:
    return any(check(user_id, texts) for check in _rejected_checks)


_WORDS = re.compile(r"(?<![^\W_])[^\W\d_]{2,}(?![^\W_])")
"""Words of letters: a UUID has hardly any."""
_NUMBERED = 17
"""The digits from which a number is the id of a message or person in a chat; a card has 16."""


_BETWEEN_WORDS = re.compile(r"(?<=\p{Ll})(?=\p{Lu})|[-_/]+")


def spelled_out(label: str) -> str:
    """Return a label with its words apart: "bredFerretsInCellar" and "bred-ferrets/in_cellar" are four."""
    return _BETWEEN_WORDS.sub(" ", label)


def check_labels(principal: Principal, *labels: str) -> None:
    """Check a client's own ids and names of things: runs, threads, channels, speakers. Empty ones pass.

    Raises Gated (422) for sensitive data, and for more than two words, of one or all of them, that repeat what
    the person rejected (``check_name_not_rejected``).
    """
    for label in labels:
        if label and not (label.isdecimal() and len(label) >= _NUMBERED):
            check_sensitive(label)
    if told := told_by_labels(*labels):
        check_name_not_rejected(principal, *told)


def labels_repeat_rejected(user_id: UUID, *labels: str) -> bool:
    """Whether labels of more than two words repeat what the person rejected."""
    told = told_by_labels(*labels)
    return bool(told) and _repeat_rejected(user_id, told)


def told_by_labels(*labels: str) -> list[str]:
    """Return what labels of more than two words may say, one or all of them, as they are and with their words apart."""
    said = [form for label in [*labels, " ".join(labels)] for form in (label, spelled_out(label))]
    return [form for form in dict.fromkeys(said) if len(_WORDS.findall(form)) > 2]
