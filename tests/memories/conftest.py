"""What tests of memories start from."""

import pytest


@pytest.fixture(autouse=True)
def _hashed_vectors(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
