"""What a statement asserts of the user at present: not what is past or doubted, but what they are reported to say."""

from __future__ import annotations

import regex

from language.reading.words import KIN, PETS

_DOUBTFUL = regex.compile(
    r"\?|^(?:if|when|whether|suppose)\b|\b(?:until|no longer|used to|formerly|previously|as a (?:child|kid|boy|girl"
    r"|teenager)|(?:and|but) (?:later |then )?left|(?:not|n['’]t) any ?more|back then|joked|jokingly|pretends?)\b",
    regex.IGNORECASE,
)
_WHAT_WAS = regex.compile(
    r"\b(?:no longer|used to|formerly|previously|(?:not|n['’]t) any ?more)\b.*?"
    r"\b(?:but|now|today|nowadays|these days|currently|instead|since then)\b|, (?:and )?no longer in [^,.;]+(?=[.!]?$)",
    regex.IGNORECASE | regex.DOTALL,
)
_REPORTED = regex.compile(
    r"^(?:the )?user (?:(?:has|have|had|also|just) )*(?:says?|said|tells?|told|mention(?:s|ed)|states?|stated|wrote"
    r"|writes|explain(?:s|ed)|confirm(?:s|ed)|repeat(?:s|ed)|noted|notes|lets?|announce[sd])"
    r"(?: (?!that\b)\w+){0,5}? (?:that )?(?P<whom>they|he|she|their|his|her) ",
    regex.IGNORECASE,
)
_RELATIVES = "|".join(sorted({*KIN, *PETS, "friend", "boss", "neighbour", "neighbor", "colleague"}))
_AS_RELATIVE = regex.compile(
    rf"^(?:the user's|my) (?:(?:\w+ )?(?:{_RELATIVES})(?: \p{{Lu}}\w+)?"
    r" (?:now |still )?(?:lives?|lived|moved|stays|is|was|works?|comes|came|grew)\b)"
    r"(?!.*\b(?:user|I|me|my|we|us|they|their|them|both|together|too|also|as well|same|with)\b)",
    regex.IGNORECASE,
)

_AT_A_PLACE = regex.compile(
    r"^(?:(?:since|from|as of) [\w ]{1,20},? )?(?:the user|I) (?:is|am|was)(?: now| currently)? at (?:the|an?|my) "
    r"(?!.*\b(?:home|house|flat|lives?|living|moved|stays)\b)",
    regex.IGNORECASE,
)


def tells_no_home(text: str) -> bool:
    """Whether a statement tells where somebody of the user's lives, or at what the user is, but not their home.

    "The user's mum lives in a care home in York.", "The user is at the Kepler clinic in Linz."
    """
    return _AS_RELATIVE.search(text) is not None or _AT_A_PLACE.search(text) is not None


def is_doubtful(text: str) -> bool:
    """Whether a text has a mark of retraction, past or doubt."""
    return _DOUBTFUL.search(text) is not None


def without_what_was(text: str) -> str:
    """Leave out what is said to be so no longer, up to what is so now: "no longer lives in Porto but in Lisbon"."""
    return _WHAT_WAS.sub(" ", text)


def as_stated(sentence: str) -> str:
    """Return what a sentence reports that the user said of themselves, as a statement; other sentences unchanged.

    "The user told the agent that their name is Bobby." is "The user's name is Bobby.".
    """
    said = _REPORTED.match(sentence)
    if said is None:
        return sentence
    whose = "" if said["whom"].lower() in {"they", "he", "she"} else "'s"
    return f"The user{whose} {sentence[said.end() :]}"
