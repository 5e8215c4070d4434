"""Pages of withheld passages."""
