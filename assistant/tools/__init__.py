"""Memory tools for models: schemas, guidance, execution."""

from .base import ToolAnswer
from .running import FORMATS, list_tools, read_guidance, replay_tool, run_tool

__all__ = ["FORMATS", "ToolAnswer", "list_tools", "read_guidance", "replay_tool", "run_tool"]
