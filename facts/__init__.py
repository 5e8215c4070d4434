"""What members say about a legacy, and its history."""
