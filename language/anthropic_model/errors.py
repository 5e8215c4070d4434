"""Why a call of the model came to nothing. The class name is the code that staff see on the waiting job."""

from __future__ import annotations

from language.base import ModelAnswerInvalid, ModelUnavailable


class ModelTimedOut(ModelUnavailable):
    """The call took longer than ``KEEPSAKE_MODEL_TIMEOUT_SECONDS``, retries and waits included."""


class ModelUnreachable(ModelUnavailable):
    """No connection to ``ANTHROPIC_BASE_URL``, or it was cut before the answer was whole."""


class ModelRateLimited(ModelUnavailable):
    """The server answered 429: too many calls or tokens for this key at the moment."""


class ModelOverloaded(ModelUnavailable):
    """The server answered 503 or 529: it has no capacity at the moment."""


class ModelServerError(ModelUnavailable):
    """The server failed (another 5xx)."""


class ModelKeyRefused(ModelUnavailable):
    """The server answered 401 or 403: ``ANTHROPIC_API_KEY`` is wrong, or may not use this model."""


class ModelNotPaid(ModelUnavailable):
    """The server answered 402: the account behind the key has no credit."""


class ModelNotFound(ModelUnavailable):
    """The server answered 404: it does not know ``KEEPSAKE_MODEL``, or ``ANTHROPIC_BASE_URL`` is wrong."""


class ModelCallRejected(ModelUnavailable):
    """The server did not accept the request (400 or another status): too long, or a model without structured output."""


class ModelAnswerRefused(ModelAnswerInvalid):
    """The model declined to answer."""


class ModelAnswerCut(ModelAnswerInvalid):
    """The answer broke off at the most tokens that a call may use, or came as more bytes than an answer can have."""
