"""What changed, when and by whom, and what is remembered in pictures."""
