"""The person's own: signing in, preferences, linked chats."""
