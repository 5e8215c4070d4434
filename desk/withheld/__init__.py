"""What the person took out of the record."""
