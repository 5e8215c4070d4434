"""The demo: made-up people who remember a made-up grandmother, brought in the way real conversations are."""

from .loading import demo_is_loaded, demo_load, demo_sign_ins

__all__ = ["demo_is_loaded", "demo_load", "demo_sign_ins"]
