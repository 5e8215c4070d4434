"""Keepsake as LangGraph's memory: ``KeepsakeSaver`` keeps the states of threads. Install ``keepsake[langgraph]``."""

from .saver import KeepsakeSaver

__all__ = ["KeepsakeSaver"]
