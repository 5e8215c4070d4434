"""Preparation of the prompt of one model call."""

from .gathering import PER_MESSAGE, gather
from .preparing import FORMATS, Turn, prepare_turn

__all__ = ["FORMATS", "PER_MESSAGE", "Turn", "gather", "prepare_turn"]
