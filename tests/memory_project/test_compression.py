"""Pages are compressed on the wire; what has an ETag or arrives in pieces is not."""

import gzip

import pytest
from django.http import HttpResponse, StreamingHttpResponse

from memory_project.middleware import CompressedPages

pytestmark = pytest.mark.django_db


@pytest.fixture
def asking(rf):
    def asked(answer):
        return CompressedPages(lambda request: answer)(rf.get("/", headers={"Accept-Encoding": "gzip"}))

    return asked


def test_a_page_is_compressed(client, owner):
    client.force_login(owner)
    plain = client.get("/memories/")
    packed = client.get("/memories/", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert b"</html>" in gzip.decompress(packed.content)
    assert len(packed.content) < len(plain.content) / 2


@pytest.mark.parametrize(
    "answer",
    [
        HttpResponse("{}" * 500, content_type="application/json", headers={"ETag": '"1"'}),
        StreamingHttpResponse(iter(["x" * 999]), content_type="text/html"),
        StreamingHttpResponse(iter(["x" * 999]), content_type="text/event-stream"),
    ],
)
def test_other_answers_are_not(asking, answer):
    told = asking(answer)
    assert "Content-Encoding" not in told
    assert told.headers.get("ETag", '"1"') == '"1"'
