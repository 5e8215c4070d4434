"""LangGraph: a checkpointer and a store. Install ``keepsake[langgraph]``."""

from .saver import KeepsakeSaver
from .store import KeepsakeStore

__all__ = ["KeepsakeSaver", "KeepsakeStore"]
