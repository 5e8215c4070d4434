"""Implementations of ``language.base.Embedder``."""
