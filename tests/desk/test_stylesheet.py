"""Contrast by WCAG 2.2: at least 4.5 for text, 3 for the edges of fields and the ring of focus."""

import re
from pathlib import Path

import pytest
from django.conf import settings

CSS, OF_DARK = (
    (Path(settings.BASE_DIR) / "static" / name).read_text(encoding="utf-8") for name in ("keepsake.css", "dark.css")
)
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", re.search(r":root \{(.*?)\n\}", sheet, re.S)[1]))
    for sheet in (CSS, OF_DARK)
)
TEXT = [
    *(("ink", on) for on in ("paper", "surface", "line", "accent-tint")),
    *((ink, on) for ink in ("soft", "accent", "accent-strong") for on in ("paper", "surface", "accent-tint")),
    *((f"on-{colour}", colour) for colour in ("accent", "mark")),
    ("on-accent", "accent-strong"),
    *((colour, f"{colour}-tint") for colour in ("good", "warn", "bad")),
    *((colour, "surface") for colour in ("warn", "bad")),
]
EDGES = [("edge", "surface"), ("edge", "paper"), ("focus", "surface"), ("focus", "paper"), ("accent", "paper")]


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_right():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_told_apart(scheme):
    assert len(scheme) == len(LIGHT) - ("shadow" in LIGHT)
    faint = [
        (*pair, round(contrast(scheme[pair[0]], scheme[pair[1]]), 2))
        for pairs, least in ((TEXT, 4.5), (EDGES, 3))
        for pair in pairs
        if contrast(scheme[pair[0]], scheme[pair[1]]) < least
    ]
    assert not faint
