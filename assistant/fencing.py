"""How stored text goes into a prompt: as data. It can neither close a fence nor pass for an instruction."""

from __future__ import annotations

import re

from memories.policy import find_instructions

MEMORY_FENCE = "memories_from_previous_interactions"
FACTS_FENCE = "facts_about_the_legacy"
RECALL_FENCE = "recalled_from_earlier_conversations"
SUMMARY_FENCE = "earlier_in_this_conversation"

_SPACE = re.compile(r"\s+")
_FENCED = re.compile(
    rf"<({MEMORY_FENCE}|{FACTS_FENCE}|{RECALL_FENCE}|{SUMMARY_FENCE})\b[^>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def as_data(text: str) -> str:
    """One line of stored text: white space folded, markup characters escaped."""
    folded = _SPACE.sub(" ", text).strip()
    return folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def name_as_data(name: str) -> str:
    """A name that stands in a prompt outside of a fence: escaped, and withheld when it reads like an instruction.

    Another member may have given it.
    """
    return "somebody whose name is withheld here" if find_instructions(name) else as_data(name)


def without_fences(text: str) -> str:
    """A message without the parts that came out of memory, so that they can't be learned as something new."""
    return _FENCED.sub(" ", text).strip()
