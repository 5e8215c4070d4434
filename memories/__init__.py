"""What is remembered about a person, and what may not come back."""
