"""Bringing one's own history in."""
