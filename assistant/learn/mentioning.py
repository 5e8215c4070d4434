"""Detection of mentions of places in messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from accounts.principals import Principal
from conversations.models import Message
from journal.actions import LedgerWrite, write_part
from journal.exceptions import Gated
from language.fencing import without_fences
from memories.actions.placing import mention
from memories.models import Place
from memories.records import Said
from retrieval.text import list_words

SHORTEST_NAME = 3
"""Shorter names are words like any other."""


def mention_places(write: LedgerWrite, principal: Principal, messages: Sequence[Message]) -> int:
    """Store mentions of the person's places in messages, in a transaction that holds their ledger lock.

    Names match as whole words, ignoring case and accents. Returns the number of new mentions. A mention whose line
    would exceed the memory block's budget is skipped.
    """
    if not messages:
        return 0
    by_first_word: dict[str, list[tuple[list[str], Place]]] = defaultdict(list)
    for place in Place.objects.visible_to(principal).present():
        words = list_words(place.name)
        if words and len(place.name) >= SHORTEST_NAME:
            by_first_word[words[0]].append((words, place))
    if not by_first_word:
        return 0
    named: dict[Place, list[Said]] = defaultdict(list)
    for message in messages:
        said = list_words(without_fences(message.content))
        for start, word in enumerate(said):
            for words, place in by_first_word.get(word, ()):
                if said[start : start + len(words)] == words:
                    named[place].append(Said(message.pk, "", message.at))
    noted = 0
    for place, mentions in named.items():
        distinct = list({each.message_id: each for each in mentions}.values())
        try:
            with write_part(write):
                noted += mention(write, place, distinct)
        except Gated:
            continue
    return noted
