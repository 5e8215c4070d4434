"""A language model behind the Messages API: Anthropic's, or any server that speaks it."""

from language.anthropic_model.call import Endpoint
from language.anthropic_model.model import AnthropicModel, from_settings

__all__ = ["AnthropicModel", "Endpoint", "from_settings"]
