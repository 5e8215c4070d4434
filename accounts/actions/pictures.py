"""Pictures of legacies. Uploads are re-encoded, so that nothing else of the file is stored or served."""

from __future__ import annotations

from io import BytesIO
from threading import Lock
from typing import IO
from uuid import UUID

from django.conf import settings
from PIL import Image, ImageOps

from journal.actions import ledger_write
from journal.exceptions import NotFound, Refused

from ..models import LegacyPicture
from ..principals import Principal
from .legacies import must_change, must_own

FORMATS = ("JPEG", "PNG", "WEBP")
_one_at_a_time = Lock()
"""A file of 170 KB can hold as many pixels as are allowed, which take 340 MB while they are made small."""


def legacy_picture_set(principal: Principal, legacy_id: UUID, file: IO[bytes], size: int) -> LegacyPicture:
    """Set or replace the picture of a legacy. ``size`` is the file's size in bytes.

    Raises NotFound (404), NotAllowed (403) for a member who is not an owner, NotYoursToDecide (403) for an agent that
    does not see everything, Refused (400 ``bad_picture``).
    """
    user_id = must_change(principal)
    must_own(principal, legacy_id)  # Also before the work of encoding.
    content = reencode_picture(file, size)
    with ledger_write(principal.actor, legacy_id) as write:
        must_own(principal, legacy_id)
        LegacyPicture.objects.filter(legacy_id=legacy_id).delete()
        picture = LegacyPicture.objects.create(legacy_id=legacy_id, added_by_id=user_id, content=content)
        write.change(legacy_id, "UPDATE", "legacy", legacy_id, changed=["picture"])
    return picture


def legacy_picture_remove(principal: Principal, legacy_id: UUID) -> None:
    """Delete the picture of a legacy. Raises the same as ``legacy_picture_set``, except for Refused."""
    must_change(principal)
    must_own(principal, legacy_id)
    with ledger_write(principal.actor, legacy_id) as write:
        must_own(principal, legacy_id)
        if not LegacyPicture.objects.filter(legacy_id=legacy_id).delete()[0]:
            raise NotFound("This legacy has no picture.")
        write.change(legacy_id, "UPDATE", "legacy", legacy_id, changed=["picture"])


def reencode_picture(file: IO[bytes], size: int) -> bytes:
    """Return the first picture of a file as WebP, at most ``PICTURE_PIXELS`` a side, upright, without metadata.

    The size in the header is checked before decoding. Raises Refused (400 ``bad_picture``).
    """
    if size > settings.PICTURE_MAX_BYTES:
        raise _refused(f"The file is larger than {settings.PICTURE_MAX_BYTES // 1_048_576} MB.")
    try:
        with _one_at_a_time, Image.open(file, formats=FORMATS) as picture:
            if picture.width * picture.height > settings.PICTURE_MAX_PIXELS:
                raise _refused("The picture has too many pixels.")
            # Shrink first, because rotating copies the picture.
            picture.thumbnail((settings.PICTURE_PIXELS, settings.PICTURE_PIXELS))
            small = ImageOps.exif_transpose(picture)
            drawn = BytesIO()
            small.convert("RGBA" if small.has_transparency_data else "RGB").save(drawn, "WEBP", quality=82)
    except Refused:
        raise
    # Decoders raise many kinds of exceptions for broken files and metadata.
    except Exception as error:
        raise _refused("This is no JPEG, PNG or WebP picture, or it is broken.") from error
    return drawn.getvalue()


def _refused(why: str) -> Refused:
    return Refused(why, code="bad_picture")
