"""Colours are there in both schemes, and can be seen on their paper."""

import pytest

from pfscope.report import palette


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colour", palette.LINES)
def test_lines_stand_out_from_the_paper_in_both_schemes(colour):
    dark = palette.dark()
    assert contrast(colour, palette.PAPER) >= 3
    assert contrast(dark[colour], dark[palette.PAPER]) >= 3


@pytest.mark.parametrize(("colour", "least"), [(palette.INK, 7), (palette.MUTED, 4.5)])
def test_text_can_be_read_in_both_schemes(colour, least):
    dark = palette.dark()
    assert contrast(colour, palette.PAPER) >= least
    assert contrast(dark[colour], dark[palette.PAPER]) >= least


@pytest.mark.parametrize("count", [1, 5, 6, 24, 200])
def test_every_place_of_a_ramp_has_a_dark_colour(count):
    assert {palette.ramp(index, count) for index in range(count)} <= set(palette.dark())


def test_the_style_sheet_has_the_same_colours():
    from pfscope.report.page import static

    sheet = static("page.css")
    for colour in (palette.INK, palette.MUTED, palette.PAPER):
        assert colour in sheet
        assert palette.dark()[colour] in sheet
