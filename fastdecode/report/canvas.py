"""What all figures share: a page's width, marks that differ in print, the same bytes every time."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from math import ceil, floor, log10
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from fastdecode.files import write_aside
from fastdecode.progress import say

# Line, marker and colour change together, so that curves can be told apart in black and white;
# the colours (Okabe and Ito) also by readers who do not see all of them. Without colours it takes
# 52 curves, four lines by thirteen markers, until two look the same.
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "<", ">", "h", "d")
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oooo")  # of bars
Style = tuple[str, str, str]  # line, marker, colour
GRID: dict[str, Any] = {"color": "0.9", "linewidth": 0.6}
WIDTH = 7.0  # inches: a page
GAP = 0.08  # inches beside a panel, so that the numbers below two axes do not touch
FONT_SIZE = 9  # points
FORMATS: dict[str, dict[str, Any]] = {  # how a picture is written: no date is
    "svg": {"metadata": {"Date": None}},
    "png": {"dpi": 200},
    "pdf": {"metadata": {"CreationDate": None}},
}
HEAD_WIDTH = 100  # characters that fit above the panels at this size
LEGEND_LINE = 0.2  # inches
LEGEND_PIECE = 4.8  # times the font size: the piece of line in a legend, and the gaps beside it
ROOM = 0.98  # of the page for a legend: pixels make letters a little wider
POINTS = 72  # an inch
HAN = (  # families with Chinese and Japanese letters; the first that is installed is taken
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("WenQuanYi Micro Hei", "Droid Sans Fallback", "IPAexGothic", "IPAGothic"),
    *("PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS"),
)
FORMULA = r"$\mathdefault"
MISSING = re.compile(r"Glyph (\d+) .*missing from font", re.DOTALL)
STEPS = (1, 2, 5)  # of a logarithmic axis, in every decade
MARGIN = 0.03  # between the outermost values and the ends of such an axis


@contextmanager
def canvas(height: float, *pictures: Path) -> Iterator[Figure]:
    """Yield an empty figure of `height` inches; when the block ends, write it to all `pictures`.

    Their names say how, a key of FORMATS.

    It looks as matplotlib's default style, whatever the user's matplotlibrc says, and equal figures
    give equal files, byte for byte. Words of other scripts need a font of HAN on the machine:
    without one a line on stderr says so, and boxes are drawn.
    """
    family = ["DejaVu Sans", *(name for name in HAN if name in _installed())]
    with (
        mpl.style.context("default"),
        mpl.rc_context(
            {
                "font.size": FONT_SIZE,
                "font.family": family,
                "figure.titlesize": "medium",
                "svg.hashsalt": "fastdecode",
            }
        ),
    ):
        figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=GAP))
        yield figure
        if head := figure.get_suptitle():
            figure.suptitle(_broken(head))
        for text in figure.findobj(Text):
            # `$ 5 or $ 6` of a sentence is no formula; those of matplotlib's own ticks are.
            if "$" in text.get_text() and not text.get_text().startswith(FORMULA):
                text.set_parse_math(False)
        with (
            _missing_letters_said(pictures[0].name),
            mpl.rc_context({"pdf.fonttype": _font_type(figure)}),
        ):
            for picture in pictures:
                suffix = picture.suffix.removeprefix(".")
                with write_aside(picture) as part:
                    figure.savefig(part, format=suffix, **FORMATS[suffix])


def _broken(head: str) -> str:
    """Return the head of a figure in lines that are no wider than the page."""
    return "\n".join(fill(line, HEAD_WIDTH) for line in head.splitlines())


@cache
def _installed() -> frozenset[str]:
    """Return the families of all fonts that matplotlib finds."""
    return frozenset(font_manager.get_font_names())


def _font_type(figure: Figure) -> int:
    """Return how a PDF holds the fonts of a figure: as TrueType, 42, or letters as drawings, 3.

    Publishers refuse drawings. But matplotlib embeds fonts of PostScript outlines, such as Noto's
    Chinese ones, in a way that many programs that show PDF leave their letters out.
    """
    own = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    letters = set().union(*(text.get_text() for text in figure.findobj(Text)))
    if all(own.get_char_index(ord(letter)) for letter in letters if letter.isprintable()):
        return 42
    others = (font_manager.findfont(name) for name in HAN if name in _installed())
    return 3 if any(_postscript(Path(font)) for font in others) else 42


def _postscript(font: Path) -> bool:
    """Tell whether the outlines of a font, or of the first in a collection, are PostScript's."""
    with font.open("rb") as file:
        if file.read(4) == b"ttcf":
            file.seek(12)
            file.seek(int.from_bytes(file.read(4), "big"))
        else:
            file.seek(0)
        return file.read(4) == b"OTTO"


@contextmanager
def _missing_letters_said(name: str) -> Iterator[None]:
    """Say in one line which letters no font has, instead of a warning for each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        if found := MISSING.match(str(warning.message)):
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        letters = "".join(missing)
        say(
            "figure",
            f"{name}: no font of this machine has {letters[:20]}: boxes are drawn instead; install "
            "one, such as Debian's fonts-noto-cjk, and draw again: fastdecode redraw",
        )


def styles() -> Iterator[Style]:
    """Yield line, marker and colour of one curve after the other, without end."""
    return zip(cycle(LINES), cycle(MARKERS), cycle(COLOURS), strict=False)


def legend_below(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend below the panels and make the figure higher by as much."""
    columns = _columns(labels)
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * ceil(len(labels) / columns))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _columns(labels: Sequence[str]) -> int:
    """Return how many columns of these labels the page is wide enough for."""
    page, font = TextToPath(), FontProperties(size=FONT_SIZE)
    with warnings.catch_warnings(action="ignore"):  # of missing letters: said when it is drawn
        sizes = [page.get_text_width_height_descent(label, font, ismath=False) for label in labels]
    widths = [width for width, _, _ in sizes]
    for lines in range(1, len(labels)):
        columns = ceil(len(labels) / lines)
        widest = [part.max() for part in np.array_split(widths, columns)]  # as matplotlib does
        if sum(widest) + LEGEND_PIECE * FONT_SIZE * columns <= ROOM * WIDTH * POINTS:
            return columns
    return 1


def logarithmic(panel: Axes, which: Literal["x", "y"], values: Iterable[float]) -> None:
    """Make an axis of the panel logarithmic, from a tick below all (positive) values to one above.

    Ticks are 1, 2 and 5 of every decade, so that even the shortest axis has two of them; one that
    is longer than two decades has the decades alone.
    """
    values = list(values)
    low, high = min(values) * (1 - MARGIN), max(values) * (1 + MARGIN)
    decades = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    ticks = [step * decade for decade in decades for step in STEPS]
    first, last = max(t for t in ticks if t <= low), min(t for t in ticks if t >= high)
    shown = decades if last > 100 * first else ticks
    panel.set(**{f"{which}scale": "log", f"{which}lim": (first, last)})
    axis = panel.xaxis if which == "x" else panel.yaxis
    axis.set_major_locator(FixedLocator([tick for tick in shown if first <= tick <= last]))
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
    axis.set_minor_locator(NullLocator())
