"""What stands in for a language model when there is none: deterministic rules over the user's own sentences."""
