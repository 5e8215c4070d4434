"""A small server that speaks the rerank APIs of Cohere and of Jina, as strictly as they do. Answers are scripted."""

from tests.language.scripted import ScriptedServer, whole

KEY = "rk-test-0123456789"
FIELDS = {
    "/v2/rerank": {"model", "query", "documents", "top_n", "max_tokens_per_doc"},
    "/v1/rerank": {"model", "query", "documents", "top_n", "return_documents"},
}


class RerankServer(ScriptedServer):
    """Cohere's API below ``/v2``, Jina's below ``/v1``. By default the last text is the best."""

    def __init__(self):
        super().__init__()
        self.answers(scored())

    def refusal(self, received):
        body = received.body
        if received.path not in FIELDS:
            return whole({"message": "not found"}, status=404)
        if received.headers.get("authorization") != f"Bearer {KEY}":
            return whole({"message": "invalid api token"}, status=401)
        documents = body.get("documents")
        is_sound = isinstance(documents, list) and all(isinstance(each, str) and each.strip() for each in documents)
        if set(body) - FIELDS[received.path] or not body.get("model") or not body.get("query") or not is_sound:
            return whole({"message": "invalid request"}, status=400)
        return None

    @property
    def documents(self):
        """The texts of all requests, as they came."""
        return [request.body["documents"] for request in self.requests]


serving = RerankServer.serving


def scored(score=lambda place, text: float(place), *, upto=None):
    """Answer as both do: the texts by their scores, the best first, ``upto`` so many of them."""

    def answer(handler):
        body = handler.received.body
        scores = {place: score(place, text) for place, text in enumerate(body["documents"])}
        best = sorted(scores, key=lambda place: -scores[place])[:upto]
        results = [{"index": place, "relevance_score": scores[place]} for place in best]
        more = {"usage": {"total_tokens": 9}} if handler.received.path == "/v1/rerank" else {"id": "1", "meta": {}}
        whole({"results": results, **more})(handler)

    return answer


def holding(word):
    """The texts that hold a word first."""
    return scored(lambda _, text: float(word in text))
