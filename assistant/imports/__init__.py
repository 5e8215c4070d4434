"""Imports of conversations and memories, in the background: check, write, extract, revert."""
