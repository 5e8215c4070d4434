"""Labels of personal fields: "Preferred name", "home". What stands under one may be its value. No database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

import regex

from language.gates.judging import Meaning, may_give
from language.shown import as_shown

from ..models import Memory
from .pieces import compiled, either

Field = Memory.Field


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)


_WHOLE = (
    r"^(?:(?:the )?(?:user|person|account (?:holder|owner))['’]s |my |their |own |the )?(?:{})"
    r"(?: (?:of|for) (?:the )?(?:user|person|account (?:holder|owner)|me))?[.?]?$"
)
_CLEAR = {
    Field.PREFERRED_NAME: r"(?:(?:preferred|chosen|first|given|real|new|current|usual|full|display|own) )+name"
    r"|(?<=['’]s |my )name|name(?= (?:of|for) )"
    r"|(?:(?:preferred|usual) )?(?:nick(?:name)?|moniker|form of address|salutation)|(?:pet|call(?:ing)?) name"
    r"|(?:(?:is|to be|being) )?(?:called|addressed|known|referred to)(?: as)?|goes by"
    r"|(?:what|how) to (?:call|address)(?: (?:the user|them|me))?|who ?am ?i|who (?:the user|I) (?:is|am)"
    r"|(?:(?:it|this|that)(?:['’]s| is) )?what (?:the user|I) (?:goes|go|answers|answer) (?:by|to)",
    Field.PRONOUNS: r"(?:(?:preferred|personal|chosen|gender) )*pronouns?",
    Field.CITY: r"(?:(?:current|present|main) )*(?:place|city|town|country) of residence|(?:home|postal) address"
    r"|(?<=['’]s |my )place"
    r"|(?:city|town|place|where) (?:(?:where|in which|that) )?(?:the user|I|they)"
    r" (?:(?:now|currently) )?(?:lives?|sleeps?)",
    Field.LANGUAGE: r"(?:(?:preferred|native|first|mother|main|chosen|primary|spoken|everyday) )+(?:languages?|tongue)"
    r"|language (?:of|for) (?:answers|replies|conversations?)",
}
"""Labels of the field alone."""
_OFTEN = {
    Field.PREFERRED_NAME: r"name|(?:what|how) (?:\w+ ){1,3}(?:says?|calls?|address(?:es)?|names?)"
    r"(?: (?:to )?(?:the user|them|him|her|me))?",
    Field.CITY: r"loc|(?:(?:current|present|home|main|own) )*(?:home|city|town|village|residence|domicile|address"
    r"|location|flat|apartment|house|hometown)",
    Field.LANGUAGE: r"lang|languages?|tongue",
}
"""Labels that may stand over much else: what stands under them has to look like a value."""


def _labels(of_each: dict[Field, str]) -> dict[Field, regex.Pattern[str]]:
    return {field: _compiled(_WHOLE.format(words)) for field, words in of_each.items()}


_CLEARLY, _LIKELY = _labels(_CLEAR), _labels(_OFTEN)
_NO_NAME = either(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december the a an it its this that these those there he she they his her their in at on
    near by for with to no not some all one"""
)
_CAPITAL = rf"\b(?!(?:{_NO_NAME})\b)(?-i:\p{{Lu}})[\p{{L}}'’-]+(?: (?-i:\p{{Lu}})[\p{{L}}'’-]+)*"
_VALUES = {
    Field.PREFERRED_NAME: _compiled(_CAPITAL),
    Field.PRONOUNS: compiled([r"{pronouns}|\b(?:she|he|they|xe|ze|ey|fae|it|any|neutral)\b"]),
    Field.CITY: _compiled(_CAPITAL),
    Field.LANGUAGE: compiled([r"\b{language}"]),
}
_LANGUAGE_TAG = _compiled(r"\p{L}{2,3}(?:[-_][\p{L}\d]{2,8})*")
_OF_A_PROFILE = (Field.PRONOUNS, Field.CITY, Field.LANGUAGE)
"""Fields that make a profile of two labels, which say nothing of the user each: a name may be a file's."""
_OF_THE_USER = regex.compile(r"(?:the )?user\b|I\b|my\b", regex.IGNORECASE)
_APART = regex.compile(r"\s*[:=(\[|,;–—/]+\s*|\s-\s")
_AROUND = " )].!?\"'”’"


def label_of(text: str) -> tuple[Field, bool] | None:
    """The field that a text is a label of, and whether it labels nothing else; None if it is no label."""
    said = as_shown(text).strip(_AROUND)
    for labels, clear in ((_CLEARLY, True), (_LIKELY, False)):
        for field, label in labels.items():
            if label.match(said):
                return field, clear
    return None


def gives_what_it_is_filed_under(
    content: str, subject: str, labels: Iterable[str] = (), meaning: Meaning | None = None
) -> bool:
    """Whether a statement gives a field by its subject: prompts show "[Preferred name] Bobby since 2020.".

    ``labels`` are other texts beside it. ``meaning`` is the statement's.
    """
    headed = label_of(subject)
    if headed is not None and headed[1]:
        return True
    clear = (label[0] for label in map(label_of, labels) if label is not None and label[1])
    fields = {*clear, *([headed[0]] if headed is not None else [])}
    return any(_may_be_value(as_shown(content), field, meaning) for field in fields)


def gives_field_by_itself(texts: Sequence[str]) -> bool:
    """Whether a text has a clear label with a value, as in "Bobby (preferred name)", or one is the label of another."""
    pairs = [pair for text in texts for pair in permutations(filter(None, _parts(text)), 2)]
    return any(
        label is not None and label[1] and _VALUES[label[0]].fullmatch(as_shown(other).strip(_AROUND)) is not None
        for label, other in ((label_of(one), other) for one, other in [*pairs, *permutations(texts, 2)])
    )


def is_profile(entries: Iterable[tuple[str, str]]) -> bool:
    """Whether labels and their texts give two fields or more, such as a city and a language."""
    given = {
        label[0]
        for text, value in ((label, as_shown(text).strip(_AROUND)) for label, text in entries)
        if (label := label_of(text)) is not None and value and _is_value(value, label[0])
    }
    return len(given.intersection(_OF_A_PROFILE)) > 1


_HEADING = _compiled(
    r"(?:user |personal |my )?(?:profile|identity|bio(?:graphy)?|details)|(?:about )?(?:the )?(?:user|me)"
)
_VALUES_ALONE = compiled([r"{place}(?: {name})*(?:\s*[,;|/·]\s*[\p{{L}}\p{{N}} ./'’-]{{2,40}}){{0,6}}"])


def is_short_profile(document: str) -> bool:
    """Whether a document has a heading such as "Profile", and a line below it that holds values without labels."""
    lines = [line.strip(" #*_=>:-•") for line in as_shown(document).splitlines()]
    headed = next((number for number, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    return headed is not None and any(_VALUES_ALONE.fullmatch(line) for line in lines[headed + 1 :])


def _is_value(text: str, field: Field) -> bool:
    is_tag = field == Field.LANGUAGE and _LANGUAGE_TAG.fullmatch(text) is not None
    return is_tag or _VALUES[field].fullmatch(text) is not None


def is_home(name: str, notes: str, place_id: str = "") -> bool:
    """Whether a place's notes call it the user's home, or its name does clearly, and the other one says where it is.

    So does an id of its name and such a label: "lisbon home". A place called "Home" with an address is an ordinary one.
    """
    named_by = {*as_shown(name).casefold().split()}
    told = as_shown(place_id).casefold().split()
    beside = label_of(" ".join(word for word in told if word not in named_by))
    if beside is not None and beside[0] == Field.CITY and named_by.intersection(told):
        return True
    noted, named = label_of(notes), label_of(name)
    where = [name] if noted is not None and noted[0] == Field.CITY else []
    where += [notes] if named == (Field.CITY, True) else []
    return any(_VALUES[Field.CITY].search(as_shown(each)) for each in where)


def _parts(text: str) -> list[str]:
    parts = _APART.split(as_shown(text))
    return [part.strip(_AROUND) for part in parts] if len(parts) > 1 else []


def _may_be_value(content: str, field: Field, meaning: Meaning | None) -> bool:
    if _OF_THE_USER.match(content) and meaning is not None:
        return may_give(meaning, field)
    return _VALUES[field].search(content) is not None
