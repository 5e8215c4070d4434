"""Conversations, messages, chunks (summaries) and agents' checkpoints."""
