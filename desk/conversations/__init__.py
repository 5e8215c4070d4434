"""Pages of conversations: list, search, reader, withholding and erasing."""
