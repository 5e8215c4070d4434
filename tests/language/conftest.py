"""The real model, where there is a key for it."""

import os

import pytest

from language.anthropic_model import AnthropicModel, Endpoint
from tests.language.messages_api import MODEL


@pytest.fixture
def real():
    key = os.environ.get("ANTHROPIC_API_KEY")
    if not key:
        pytest.skip("calls a real model: set ANTHROPIC_API_KEY to run it")
    base_url = os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
    return AnthropicModel(MODEL, Endpoint(base_url, key, timeout_seconds=75, retries=2))
