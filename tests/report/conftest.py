"""A made run: two systems with four decoders, their scores and times."""

from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fastdecode.report.tidy import COLUMNS

DEVICE = "cpu: X, 2 cores"
SYSTEMS = {"raw/base": (1.0, 30.0, "3-3"), "big/small": (0.5, 28.0, "6-1")}  # time, BLEU, layers
DECODERS = {  # tier, precision, milliseconds a token
    "beam5": ("reference", "fp32", 1.0),
    "greedy": ("reference", "fp32", 0.8),
    "fast": ("optimised", "fp32", 0.4),
    "eight": ("optimised", "int8", 0.2),
}
LENGTHS = (4, 5, 9, 12, 17, 30)  # of the translations, in tokens
STAGES = {"preprocess": 0.1, "encode": 0.2, "search": 0.7}  # shares


def value(name: str, metric: str, number: float, **more: str) -> dict[str, Any]:
    """Return a row of the tidy table about target/system/decoder."""
    target, system, decoder = name.split("/")
    row = {
        "run": "made",
        "dataset": "toy",
        "target": target,
        "system": system,
        "seed": "1",
        "decoder": decoder,
        "split": "test",
        "metric": metric,
        "value": number,
        "family": "autoregressive",
        "layers": SYSTEMS[f"{target}/{system}"][2],
        "parameters": "1234567",
        "device": DEVICE,
        "commit": "c0ffee",
    }
    return dict.fromkeys(COLUMNS, "") | row | more


def one_sentence(ms: float) -> dict[str, float]:
    """Return what is measured of one sentence at a time."""
    return {
        "latency_median": ms,
        "latency_mean": 1.1 * ms,
        "latency_p90": 2 * ms,
        "latency_p99": 3 * ms,
        "latency_disturbed": 0.0,
        "latency_tokens": 12.8,
        "latency_passes": 13.8,
        "latency_bytes_per_pass": 1.25e6,
        "latency_floor_fraction": 0.125,
        "latency_serial_layers": 30.6,
        **{f"latency_stage_{stage}": 1.1 * ms * share for stage, share in STAGES.items()},
    }


def many_sentences(ms: float, batch: int, faster: float) -> dict[str, float]:
    """Return what is measured in batches."""
    return {
        "latency_median": ms * batch / faster,
        "latency_disturbed": 0.0,
        "throughput_sentences": faster * 1e3 / ms,
        "throughput_tokens": faster * 12.8e3 / ms,
    }


@pytest.fixture
def tidy() -> pd.DataFrame:
    """The tidy table of the made run: batches of 8 are the faster ones."""
    rows = []
    for model, (slow, bleu, _) in SYSTEMS.items():
        for decoder, (tier, precision, per_token) in DECODERS.items():
            name = f"{model}/{decoder}"
            rows.append(value(name, "bleu", bleu + per_token, signature="bleu|v1"))
            for threads in (2, 1):
                ms = 15.0 * slow * per_token / threads
                measured = {
                    ("S1", "1"): one_sentence(ms),
                    ("Smax", "8"): many_sentences(ms, 8, 3),
                    ("Smax", "32"): many_sentences(ms, 32, 2),
                }
                if threads == 1:
                    measured["S1", "1"]["memory_peak"] = 300.4
                    measured["Smax", "8"]["memory_peak"] = 420.0
                setting = {"tier": tier, "precision": precision, "threads": str(threads)}
                rows += [
                    value(name, metric, number, scenario=scenario, batch=batch, **setting)
                    for (scenario, batch), metrics in measured.items()
                    for metric, number in metrics.items()
                ]
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def samples() -> pd.DataFrame:
    """Raw samples of its reference tier with one thread: three repeats, the second one slower."""
    return pd.DataFrame(
        [
            {
                "decoder": f"{model}/{decoder}",
                "batch": 1,
                "repeat": repeat,
                "line": line,
                "milliseconds": tokens * slow * DECODERS[decoder][2] * (2 if repeat == 1 else 1),
                "sentences": 1,
                "tokens": tokens,
                "passes": tokens + 1,
            }
            for repeat in range(3)
            for model, (slow, _, _) in SYSTEMS.items()
            for decoder in ("beam5", "greedy")
            for line, tokens in enumerate(LENGTHS)
        ]
    )


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that have been saved, as they were at that moment."""
    figures: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *args: Any, **kwargs: Any) -> None:
        if not (figures and figures[-1] is figure):
            figures.append(figure)
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", keep)
    return figures


def assert_legible(figure: Figure) -> None:
    """Every text lies on the page, has at least 7 points, and overlaps no other."""
    figure.draw_without_rendering()
    boxes = []
    for text in _texts(figure):
        box = text.get_window_extent()
        assert text.get_fontsize() >= 7, text
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width, text
        assert box.y0 >= 0 and box.y1 <= figure.bbox.height, text
        boxes.append((text.get_text(), box))
    for (one, first), (other, second) in combinations(boxes, 2):
        assert not first.overlaps(second), (one, other)


def _texts(figure: Figure) -> list[Text]:
    """Return the texts that are seen: not those of ticks beyond the end of an axis."""
    beyond = {
        label
        for panel in figure.axes
        for axis in (panel.xaxis, panel.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    texts: list[Text] = figure.findobj(Text)
    return [t for t in texts if t.get_visible() and t.get_text().strip() and t not in beyond]


@pytest.fixture
def origin() -> dict[str, Any]:
    """The provenance of a statistic."""
    return {
        "dataset": "toy",
        "target": "big",
        "system": "lattice",
        "seed": 1,
        "split": "valid",
        "precision": "fp32",
        "device": "cpu: X",
        "commit": "abc",
    }
