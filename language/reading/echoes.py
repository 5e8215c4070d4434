"""What an assistant's question means that leans on its last one: "And yours?" after "What was his job?"."""

from __future__ import annotations

import re
from collections.abc import Collection

from language.reading.words import KIN

_ECHO = re.compile(r"(?i)(?:^|[.!?] )(?:(?:and )?(?:what|how) about|and)[, ]+you(?:rs|rself)?(?: now)?\?\s*$")
_QUESTION = re.compile(r"[^.!?\n]*\?")
_NOW = {"did": "do", "was": "are", "were": "are", "had": "have", "does": "do", "is": "are", "has": "have"}
_IS = {"was": "is", "were": "are"}


def whole_question(reply: str, before: str, names: Collection[str]) -> str:
    """The assistant's message, with the question ``before`` put to the user in the place of one that echoes it.

    ``names``: the words in lower case by which the legacy is called.
    """
    asked = _QUESTION.findall(before)
    if not asked or not _ECHO.search(reply):
        return reply
    called = "|".join(map(re.escape, {"he", "she", *names}))
    kin = "|".join(sorted(map(re.escape, KIN), key=len, reverse=True))
    owners = rf"(?i)\b(?:his|her|(?:{called}|your (?:{kin}))'s)(?= \w)"
    subject = rf"(?i)\b(?P<be>did|was|were|had|does|is|has) (?:{called}|your (?:{kin}))\b(?!')"
    theirs = re.sub(subject, lambda found: f"{_NOW[found['be'].lower()]} you", asked[-1].strip())
    if theirs == asked[-1].strip():
        theirs = re.sub(r"(?i)\b(?:was|were)\b", lambda found: _IS[found[0].lower()], re.sub(owners, "your", theirs))
    else:
        theirs = re.sub(owners, "your", theirs)
    return theirs[:1].upper() + theirs[1:] if theirs != asked[-1].strip() else reply
