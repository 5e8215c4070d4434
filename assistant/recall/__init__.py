"""Finding what helps with a question or the next message, and putting a prompt together."""
