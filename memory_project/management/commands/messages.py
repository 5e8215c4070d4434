"""``manage.py messages``: extract translatable texts, update the catalogues and compile them.

It uses Babel instead of GNU gettext. New texts get no translation, unused ones are dropped, and there is no fuzzy
matching.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

KEYWORDS = {
    **DEFAULT_KEYWORDS,
    **dict.fromkeys(("gettext_lazy", "gettext_noop")),
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
_AT_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_NOISE = (b'"Project-Id-', b'"Report-', b'"POT-', b'"PO-Rev', b'"Last-', b'"Language-Team', b'"Generated-By')
LEFT_OUT = {"locale", "migrations", "tests", "var", "clients", "benchmarks"}


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Bring the catalogues of what people read up to date, and compile them."

    def handle(self, *args: object, **options: object) -> None:
        """Rewrite each catalogue and list its missing translations."""
        for path in catalogues():
            catalog = updated(path)
            path.write_bytes(written(catalog))
            path.with_suffix(".mo").write_bytes(compiled(path))
            lacking = [message.id for message in catalog if message.id and not is_whole(message.string)]
            self.stdout.write(f"{path.parent.parent.name}: {len(catalog)} texts, {len(lacking)} without a translation")
            for text in lacking:
                self.stdout.write(f"  {text!r}")


def catalogues() -> list[Path]:
    """Return the paths of the catalogues, one per language; English texts are the keys and need none."""
    return sorted(Path(settings.LOCALE_PATHS[0]).glob("*/LC_MESSAGES/django.po"))


def updated(path: Path) -> Catalog:
    """Return the catalogue at a path, updated to the current texts; existing translations are kept."""
    catalog = read(path)
    found = Catalog(charset="utf-8")
    for name, text, context in texts():
        found.add(text, locations=[(name, 0)], context=context)
    catalog.update(found, no_fuzzy_matching=True)
    return catalog


def written(catalog: Catalog) -> bytes:
    """Serialise a catalogue, without header fields that change on every write."""
    buffer = BytesIO()
    write_po(buffer, catalog, width=120, sort_output=True, include_lineno=False, ignore_obsolete=True)
    return b"".join(line for line in buffer.getvalue().splitlines(keepends=True) if not line.startswith(_NOISE))


def read(path: Path) -> Catalog:
    """Read a catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, charset="utf-8")


def compiled(path: Path) -> bytes:
    """Compile a catalogue to the binary .mo format."""
    buffer, catalog = BytesIO(), read(path)
    catalog.creation_date = catalog.revision_date = _AT_NO_TIME
    write_mo(buffer, catalog)
    return buffer.getvalue()


def is_whole(translation: str | tuple[str, ...] | list[str] | None) -> bool:
    """Whether a translation exists in all its plural forms."""
    if not translation or isinstance(translation, str):
        return bool(translation)
    return all(translation)


def texts() -> Iterator[tuple[str, str | tuple[str, ...], str | None]]:
    """Yield the file, the text (or singular and plural) and the context of each translatable text."""
    pages = (path for path in (settings.BASE_DIR / "templates").rglob("*") if path.suffix in {".html", ".txt"})
    for path in sorted([*settings.BASE_DIR.rglob("*.py"), *pages]):
        name = path.relative_to(settings.BASE_DIR)
        if name.parts[0] in LEFT_OUT or name.parts[0].startswith(".") or "migrations" in name.parts:
            continue
        source = path.read_text(encoding="utf-8")
        if path.suffix != ".py":
            # templatize replaces markup with Xs; without indents the result parses as Python.
            source = "\n".join(line.lstrip() for line in templatize(source, origin=str(name)).splitlines())
        for _line, text, _comments, context in extract("python", BytesIO(source.encode()), KEYWORDS):
            yield str(name), text, context
