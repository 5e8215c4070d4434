"""Decisions about memories without I/O: validation, permissions, comparison with existing ones."""
