"""What was said: conversations, messages, chunks."""
