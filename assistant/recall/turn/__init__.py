"""Everything one model call needs."""

from .gathering import PER_MESSAGE, gather
from .preparing import FORMATS, Turn, prepare_turn

__all__ = ["FORMATS", "PER_MESSAGE", "Turn", "gather", "prepare_turn"]
