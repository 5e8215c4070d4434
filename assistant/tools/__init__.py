"""Tools that an agent's model calls to remember: their schemas, guidance on when to use them, and running them."""

from .base import ToolAnswer
from .running import FORMATS, list_tools, read_guidance, replay_tool, run_tool

__all__ = ["FORMATS", "ToolAnswer", "list_tools", "read_guidance", "replay_tool", "run_tool"]
