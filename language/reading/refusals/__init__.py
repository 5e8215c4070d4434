"""Refusals in chat: "don't write that down", "no, it's just for this task", "forget what I said about …".

Patterns find the request (``wording``, ``requests``). Only then is anything parsed, to find other content of the
message and the words that name what is refused (``meaning``).
"""

from .meaning import Refusal, Turn, beside, hear, named, tells
from .requests import may_refuse
from .subjects import Told, content_words
from .wording import asks_to_keep, says_yes

__all__ = [
    "Refusal",
    "Told",
    "Turn",
    "asks_to_keep",
    "beside",
    "content_words",
    "hear",
    "may_refuse",
    "named",
    "says_yes",
    "tells",
]
