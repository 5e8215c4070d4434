"""Talking with the assistant: the reader of a conversation with a composer at its end."""
