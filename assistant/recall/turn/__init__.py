"""Preparation of the prompt of one model call."""

from .gathering import PER_MESSAGE, gather
from .preparing import FORMATS, PreparedTurn, prepare_turn

__all__ = ["FORMATS", "PER_MESSAGE", "PreparedTurn", "gather", "prepare_turn"]
