"""Pages of legacies, facts, members and invitations."""
