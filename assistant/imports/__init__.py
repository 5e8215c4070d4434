"""Bringing a person's history in, in the background: checked, written, read for facts, and taken back if need be."""
