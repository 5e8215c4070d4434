"""Pages of the account: sign-in, preferences, linked chats, export and erasure."""
