"""A person's no in talk: "don't write that down", "no, it's just for this task", "forget what I said about …".

Patterns find where somebody asks that something be not kept (``wording``, ``requests``); only then is anything parsed,
for what is said beside the request, and for the words that name what is meant (``meaning``).
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
