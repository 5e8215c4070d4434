"""How people are named: the one spelling of a name, what can't be one, and whose names a caller means."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

import regex as re
from confusable_homoglyphs import categories as scripts
from confusable_homoglyphs import confusables
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from journal.exceptions import Gated, Refused
from language.gates import find_instructions, first_sensitive

from ..principals import Principal

LOCAL_ISSUER = "local"
_INVISIBLE = re.compile(r"[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\u2800]")
_WRITTEN_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)


def normal_name(name: str) -> str:
    """The spelling under which a person's name is stored and found: one case and one width, single blanks.

    That is NFKC and case folding, and NFKC again, because folding can take a character apart.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


LONGEST_NAME = 255
"""Characters of a person's name at an issuer, in its normal form."""


PARKED = "PARKED "
"""How a name begins that nobody is found by. No normal form holds capitals, so no request spells it."""


def parked_name(pk: object, name: str, longest: int) -> str:
    """What stands in place of a name that could be several people's, until somebody decides whose it is."""
    return f"{PARKED}{pk} {name}"[:longest]


def check_name_of_person(name: str, code: str = "bad_user") -> None:
    """Raise Refused for a name that reads as another one: as it was sent, since ``normal_name`` drops some of that.

    Refused are characters that nobody sees or that turn the direction, and letters of scripts that are not written
    together, such as a Cyrillic а among Latin letters (UTS 39, "highly restrictive"). Refused too is what reads as an
    ASCII character by Unicode's table of look-alikes: ɡ for g or ‐ for -, and a name in another script whose letters
    all do ("сара"). The Turkish ı is taken, since whole languages are written with it.
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
    """Characters of a text that read as an ASCII one, each with that one."""
    found = confusables.is_confusable(text, greedy=True) or []
    looks = {each["character"]: [like["c"] for like in each["homoglyphs"]] for each in found}
    ascii_ones = {each: [like for like in likes if len(like) == 1 and like.isascii()] for each, likes in looks.items()}
    return {each: likes[0] for each, likes in ascii_ones.items() if likes and not each.isascii() and each != "ı"}


def issuer_of_names(principal: Principal) -> str:
    """Whose names the caller names people by: a service its issuer's, everybody else this deployment's user names."""
    return principal.issuer if principal.service else LOCAL_ISSUER


def names_to_invite(principal: Principal, names: Collection[str]) -> list[str]:
    """The normal forms of names that the caller means people by, each once. Raise Refused for what can't be a name.

    Nobody is looked up: that a name is nobody's is told by nothing.
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
    """Raise Refused for something that can't be a user name."""
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise Refused(
            _("%(value)s is not a user name.") % {"value": repr(username[:50])}, code="bad_username"
        ) from error
    if len(username) > 150:
        raise Refused(_("A user name has at most 150 characters."), code="bad_username")


def clean_name(name: str, longest: int) -> str:
    """The name of an agent or a legacy without blanks around it. Raise Refused unless 1 to ``longest`` characters."""
    name = name.strip()
    if not 1 <= len(name) <= longest or "\x00" in name:
        raise Refused(_("A name has 1 to %(longest)s characters.") % {"longest": longest}, code="bad_name")
    return name


def clean_display_name(name: str) -> str:
    """The name of a person for pages and prompts, or none. Raise Refused or Gated (422), as for a legacy's."""
    return clean_shown_name(name, 100) if name.strip() else ""


def clean_shown_name(name: str, longest: int = 200) -> str:
    """The name of a legacy in its stored form. Raise Refused, or Gated (422) whoever gives it: others read it too."""
    name = clean_name(name, longest)
    check_sensitive(name)
    check_instructions(name, _("The name was refused because it %(reason)s."))
    return name


def check_instructions(text: str, refusal: str, **named: str) -> None:
    """Raise Gated (422) for a text aimed at a model. ``refusal`` has room for the ``reason`` and for what is named."""
    reason = find_instructions(text)
    if reason:
        raise Gated(refusal % {"reason": _(reason), **named})


def check_sensitive(text: str) -> None:
    """Raise Gated with the kind of the first sensitive thing in a text. The error does not hold the value."""
    found = first_sensitive(text)
    if found is not None:
        article = "an" if found.kind[0] in "aeiouAEIOU" else "a"
        raise Gated(
            _("The text holds %(article)s %(kind)s. Such data is not stored.")
            % {"article": article, "kind": _(found.kind)},
            kind=found.kind,
        )
