"""The picture of a legacy: drawn anew, small, without what else the file holds, for members only."""

import io
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from accounts.actions import legacy_picture_remove, legacy_picture_set, pictures
from accounts.actions.pictures import reencode_picture
from accounts.models import LegacyPicture
from accounts.queries import principal_for_person
from journal.exceptions import NotAllowed, NotFound, Refused

GPS = 0x8825


def test_one_picture_is_drawn_at_a_time():
    """A small file can hold very many pixels: several at once would take the memory of the whole machine."""
    drawing, most, opened = [], [], pictures.Image.open

    class Watched:
        def __init__(self, picture):
            self.picture = picture

        def __enter__(self):
            drawing.append(1)
            most.append(len(drawing))
            time.sleep(0.05)
            return self.picture.__enter__()

        def __exit__(self, *error):
            drawing.pop()
            return self.picture.__exit__(*error)

    content = io.BytesIO()
    Image.new("RGB", (40, 30)).save(content, "PNG")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(4) as pool:
        patch.setattr(pictures.Image, "open", lambda *args, **kwargs: Watched(opened(*args, **kwargs)))
        list(pool.map(lambda _: reencode_picture(io.BytesIO(content.getvalue()), 100), range(4)))
    assert most == [1, 1, 1, 1]


def a_picture(form="JPEG", size=(1200, 800), **saved):
    data = io.BytesIO()
    Image.new("RGB", size, "teal").save(data, form, **saved)
    return data.getvalue()


def located():
    """A photograph that says where it was taken, and that it lies on its side."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(GPS)[2] = (46.0, 12.0, 0.0)
    return a_picture(exif=exif)


def drawn(data):
    return reencode_picture(io.BytesIO(data), len(data))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_each_format_is_drawn_anew_and_small(form):
    with Image.open(io.BytesIO(drawn(a_picture(form)))) as picture:
        assert picture.format == "WEBP"
        assert picture.size == (640, 427)


def test_it_is_upright_and_says_nothing_of_where_it_was_taken():
    data = located()
    with Image.open(io.BytesIO(data)) as before:
        assert before.getexif().get_ifd(GPS)
    with Image.open(io.BytesIO(drawn(data))) as picture:
        assert picture.size == (427, 640)
        assert not picture.getexif()
        assert "exif" not in picture.info


def test_what_is_seen_through_stays_so():
    data = io.BytesIO()
    Image.new("RGBA", (40, 40), (0, 0, 0, 0)).save(data, "PNG")
    with Image.open(io.BytesIO(drawn(data.getvalue()))) as picture:
        assert picture.mode == "RGBA"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        a_picture("GIF"),
        a_picture("JPEG")[:600],
        a_picture("PNG")[:60],
        b"\xff\xd8\xff" + b"x" * 100,
    ],
    ids=["empty", "svg", "gif", "cut jpeg", "cut png", "noise"],
)
def test_what_is_no_picture_is_refused(data):
    with pytest.raises(Refused, match="no JPEG, PNG or WebP"):
        drawn(data)


def test_broken_metadata_are_refused_like_a_broken_picture():
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x9286] = b"a"
    data = exif.tobytes().replace(b"\x92\x86\x00\x01", b"\xa0\x05\x00\x02")  # An address that is a text.
    with pytest.raises(Refused, match="no JPEG, PNG or WebP"):
        drawn(a_picture(exif=data))


def test_too_many_pixels_or_bytes_are_refused_before_any_is_drawn(settings):
    settings.PICTURE_MAX_PIXELS = 1_000
    with pytest.raises(Refused, match="too many pixels"):
        drawn(a_picture("PNG"))
    settings.PICTURE_MAX_BYTES = 1_048_576
    with pytest.raises(Refused, match="larger than 1 MB"):
        reencode_picture(io.BytesIO(b""), 1_048_577)


def test_only_owners_change_it(owner, member, stranger, legacy):
    def add(person):
        data = a_picture()
        return legacy_picture_set(principal_for_person(person.pk), legacy.pk, io.BytesIO(data), len(data))

    with pytest.raises(NotAllowed):
        add(member)
    with pytest.raises(NotFound):
        add(stranger)
    first = add(owner)
    second = add(owner)
    assert LegacyPicture.objects.get() == second == first
    with pytest.raises(NotAllowed):
        legacy_picture_remove(principal_for_person(member.pk), legacy.pk)
    legacy_picture_remove(principal_for_person(owner.pk), legacy.pk)
    with pytest.raises(NotFound):
        legacy_picture_remove(principal_for_person(owner.pk), legacy.pk)


def test_the_page_takes_one_and_shows_it_to_members_alone(client, owner, member, stranger, legacy):
    client.force_login(owner)
    address = f"/legacies/{legacy.pk}/picture/"
    assert client.get(address).status_code == 404
    sent = {"picture": SimpleUploadedFile("rosa.jpg", a_picture(), "image/jpeg")}
    answer = client.post(f"{address}set/", sent, follow=True)
    assert "This is its picture from now on." in answer.content.decode()
    assert f'src="{address}?at=' in answer.content.decode()
    for person, status in ((owner, 200), (member, 200), (stranger, 404)):
        client.force_login(person)
        shown = client.get(address)
        assert shown.status_code == status
    client.logout()
    assert client.get(address).status_code == 404
    client.force_login(member)
    shown = client.get(address)
    assert (shown["Content-Type"], shown["X-Content-Type-Options"]) == ("image/webp", "nosniff")
    assert "private" in shown["Cache-Control"]
    assert f'src="{address}?at=' in client.get("/").content.decode()


def test_the_page_says_what_is_wrong_with_a_file(client, owner, legacy):
    client.force_login(owner)
    address = f"/legacies/{legacy.pk}/picture/set/"
    nothing = client.post(address, {}, follow=True)
    assert "Choose a file." in nothing.content.decode()
    noise = client.post(address, {"picture": SimpleUploadedFile("x.jpg", b"noise", "image/jpeg")}, follow=True)
    assert "This is no JPEG, PNG or WebP picture, or it is broken." in noise.content.decode()
    assert not LegacyPicture.objects.exists()


def test_the_page_removes_it(client, owner, legacy):
    data = a_picture()
    legacy_picture_set(principal_for_person(owner.pk), legacy.pk, io.BytesIO(data), len(data))
    client.force_login(owner)
    client.post(f"/legacies/{legacy.pk}/picture/set/", {"remove": "yes"})
    assert not LegacyPicture.objects.exists()


class TestOverREST:
    @pytest.fixture
    def there(self, legacy):
        return f"/api/v1/legacies/{legacy.pk}/picture/"

    def put(self, client, there, data):
        return client.put(there, {"picture": SimpleUploadedFile("rosa.jpg", data)}, format="multipart")

    def test_it_is_set_fetched_and_removed(self, api, owner, member, agent, there):
        client = api(owner)
        assert client.get(there).status_code == 404
        for _ in range(2):
            assert self.put(client, there, a_picture()).status_code == 204
        for caller in (owner, member, agent):
            answer = api(caller).get(there)
            assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
            with Image.open(io.BytesIO(answer.content)) as picture:
                assert picture.size == (640, 427)
        assert client.delete(there).status_code == 204
        assert client.delete(there).status_code == 404
        assert client.get(there).status_code == 404

    @pytest.mark.parametrize(("who", "status"), [("member", 403), ("stranger", 404), ("other_agent", 404), (None, 401)])
    def test_others_change_nothing(self, api, request, owner, there, who, status):
        assert self.put(api(owner), there, a_picture()).status_code == 204
        before = LegacyPicture.objects.values_list("added_at").get()
        client = api(request.getfixturevalue(who) if who else None)
        assert self.put(client, there, a_picture()).status_code == status
        assert client.delete(there).status_code == status
        assert LegacyPicture.objects.values_list("added_at").get() == before

    def test_what_is_no_picture_is_a_400(self, api, owner, there):
        client = api(owner)
        answer = self.put(client, there, b"<svg/>")
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_picture")
        assert self.put(client, there, b"").status_code == 400
        assert client.put(there, {}, format="multipart").status_code == 400
        assert client.put(there, {"picture": "text"}, format="json").status_code == 415
        assert not LegacyPicture.objects.exists()
