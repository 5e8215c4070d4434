"""The person's side: every server-rendered page."""
