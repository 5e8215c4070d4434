"""Why a call of an embedder came to nothing. The class name is the code that staff see on the waiting job."""

from __future__ import annotations

from language.base import EmbedderUnavailable


class EmbedderNotLoaded(EmbedderUnavailable):
    """The bundled model can't be loaded: its packages are damaged or of another version, or there is no memory."""


class EmbedderFailed(EmbedderUnavailable):
    """The bundled model was loaded, but failed with a text."""


class EmbedderTimedOut(EmbedderUnavailable):
    """The call took longer than it may, retries and waits included."""


class EmbedderUnreachable(EmbedderUnavailable):
    """No connection to the server, or it was cut before the answer was whole."""


class EmbedderRateLimited(EmbedderUnavailable):
    """The server answered 429: too many calls or tokens for this key at the moment."""


class EmbedderOverloaded(EmbedderUnavailable):
    """The server answered 503 or 529: it has no capacity at the moment."""


class EmbedderServerError(EmbedderUnavailable):
    """The server failed (another 5xx)."""


class EmbedderKeyRefused(EmbedderUnavailable):
    """The server answered 401 or 403: the key is wrong, or may not use this model."""


class EmbedderNotPaid(EmbedderUnavailable):
    """The server answered 402: the account behind the key has no credit."""


class EmbedderNotFound(EmbedderUnavailable):
    """The server answered 404: it does not know the model, or the base URL is wrong."""


class EmbedderCallRejected(EmbedderUnavailable):
    """The server did not accept the request (400 or another status), however small."""


class EmbedderAnswerInvalid(EmbedderUnavailable):
    """The answer is not what was asked for: no JSON, too long, or other vectors than one of the right kind a text."""
