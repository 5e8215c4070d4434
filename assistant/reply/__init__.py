"""The built-in assistant: replies, streamed to clients."""
