"""Extraction of memories from conversations: a model chooses, a plan validates, a transaction writes."""
