"""What goes wrong with servers, told so that a person knows what to do."""


class ServerError(Exception):
    """A server can't be started or kept running; the text says why and what helps."""
