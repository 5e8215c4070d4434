"""A small server that speaks the embeddings APIs of OpenAI and of Voyage. What it answers is scripted.

It is as strict about what it is sent as they are: another path, key or model, a parameter of the other's, a blank or
too long text, too many texts get the API's error, whatever the script says. ``embedded`` answers as they do, with the
vectors of the hashing embedder.
"""

import base64
import json
import math

import numpy as np

from language.embedders.hashing import HashingEmbedder
from language.tokens import count_tokens
from tests.language.scripted import ScriptedServer, whole

KEY = "sk-test-0123456789"
OPENAI = {"model", "input", "encoding_format", "dimensions"}
VOYAGE = {"model", "input", "encoding_format", "input_type", "truncation", "output_dimension"}
MODELS = {"text-embedding-3-small": OPENAI, "bge-m3": OPENAI, "voyage-4": VOYAGE}
DIMENSIONS = 256


class EmbeddingsServer(ScriptedServer):
    """``most_texts`` and ``most_tokens`` are what one call and one text may have."""

    def __init__(self):
        super().__init__()
        self.base_url = f"{self.url}/v1"
        self.reset()

    def reset(self):
        """Take as much as the APIs do, and answer as they do."""
        self.most_texts = 1_000
        self.most_tokens = 8_192
        self.answers(embedded)

    @property
    def inputs(self):
        """The texts of all requests, as they came."""
        return [request.body["input"] for request in self.requests]

    def refusal(self, received):
        body = received.body
        if received.path != "/v1/embeddings":
            return error(404)
        if received.headers.get("authorization") != f"Bearer {KEY}":
            return error(401)
        if body.get("model") not in MODELS:
            return error(404)
        texts = body.get("input")
        if set(body) - MODELS[body["model"]] or not isinstance(texts, list) or not texts:
            return error(400)
        if any(not text.strip() or count_tokens(text) > self.most_tokens for text in texts):
            return error(400)
        return error(422) if len(texts) > self.most_texts else None


serving = EmbeddingsServer.serving


# --- Answers ----------------------------------------------------------------------------------------------------


def vectors_for(texts, dimensions=DIMENSIONS):
    return HashingEmbedder(dimensions).embed_passages(texts)


def embedded(handler, vectors=None, form="base64"):
    """Answer the request with the vectors that it asks for, the last text's first."""
    request = handler.received.body
    size = request.get("dimensions") or request.get("output_dimension") or DIMENSIONS
    rows = vectors_for(request["input"], size) if vectors is None else vectors
    data = [{"object": "embedding", "index": n, "embedding": written(row, form)} for n, row in enumerate(rows)]
    document(data[::-1])(handler)


def as_numbers(handler):
    """The same in the form of servers that know no base64."""
    embedded(handler, form="numbers")


def written(row, form="base64"):
    values = np.asarray(row, dtype="<f4")
    return values.tolist() if form == "numbers" else base64.b64encode(values.tobytes()).decode()


def answering(*rows, form="base64"):
    """An answer with these vectors, whatever was asked."""
    return lambda handler: embedded(handler, rows, form)


def document(data):
    body = {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    return whole(json.dumps(body).encode())


def error(status, **headers):
    """An error of either API. It quotes the request, as some do."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return whole(
        {"error": {"message": "She kept bees.", "type": "x"}, "detail": "She kept bees."}, status=status, **headers
    )


UNIT = [1.0] + [0.0] * (DIMENSIONS - 1)
BROKEN = {
    "no JSON": whole(b'{"data": ['),
    "a web page": whole(b"<html>", content_type="text/html"),
    "nothing": whole(b""),
    "not an object": whole([]),
    "no data": whole({"object": "list"}),
    "data of numbers": whole({"data": [1]}),
    "too few vectors": answering(),
    "too many vectors": answering(UNIT, UNIT),
    "no index": document([{"embedding": written(UNIT)}]),
    "an index that is no number": document([{"index": True, "embedding": written(UNIT)}]),
    "an index beyond": document([{"index": 1, "embedding": written(UNIT)}]),
    "no vector": document([{"index": 0}]),
    "too short": answering(UNIT[:-1]),
    "too long": answering([*UNIT, 0.0]),
    "no base64": document([{"index": 0, "embedding": "not base64!"}]),
    "half a number": document([{"index": 0, "embedding": base64.b64encode(b"abcdef").decode()}]),
    "words": document([{"index": 0, "embedding": ["one"] * DIMENSIONS}]),
    "not a number": answering([math.nan, *UNIT[1:]]),
    "not a number in JSON": answering([math.nan, *UNIT[1:]], form="numbers"),
    "infinite": answering([math.inf, *UNIT[1:]]),
    "beyond 32 bits": document([{"index": 0, "embedding": [1e300, *UNIT[1:]]}]),
    "zeros": answering([0.0] * DIMENSIONS),
    "nested without end": whole(b'{"data": ' + b"[" * 200_000),
    "compressed in vain": whole(b"no gzip at all", **{"Content-Encoding": "gzip"}),
}
