"""The chat: a conversation with a composer."""
