"""The picture of the benchmark: who stands over whom, and what was published."""

from pathlib import Path
from typing import Any

import pytest

from fastdecode.commands.selection import DEFINITIONS
from fastdecode.families import untrained, untrained_families
from fastdecode.report import benchmark_figure
from fastdecode.report.benchmark import published_speedups
from fastdecode.report.benchmark_figure import draw_speedups
from tests.report.test_benchmark import row

AR = "random/autoregressive-6-6/"
FACTS: dict[str, Any] = {"device": "a GPU", "threads": 1, "precision": "fp16"}


def timed(name: str, repeats: list[float], **more: Any) -> dict[str, Any]:
    return row(name, sorted(repeats)[len(repeats) // 2], repeat_medians=repeats, **more)


ROWS = [
    timed(AR + "fairseq-beam5", [60.0, 80.0, 70.0]),
    timed(AR + "fastdecode-beam5", [20.0, 20.0, 20.0]),
    timed(AR + "ctranslate2-beam5", [10.0, 10.0, 10.0]),
    timed("random/dag-6-6/eager-lookahead", [7.0, 7.0, 5.0]),
    timed("random/dag-6-6/fastdecode-lookahead", [5.0, 4.0, 5.0]),
    timed("random/dag-6-6/fastdecode-lookahead", [1.0, 1.0, 1.0], batch=8),
]


class Drawn:
    """What is drawn, caught on its way to the panel."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.spans: list[tuple[float, float, float]] = []
        frame, over = benchmark_figure._frame, benchmark_figure._over

        def framing(panel: Any, names: Any, reached: Any) -> None:
            self.names, self.panel = list(names), panel
            frame(panel, names, reached)

        def comparing(one: Any, base: Any) -> tuple[float, float, float]:
            self.spans.append(over(one, base))
            return self.spans[-1]

        monkeypatch.setattr(benchmark_figure, "_frame", framing)
        monkeypatch.setattr(benchmark_figure, "_over", comparing)


def test_tiers_of_a_search_share_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(monkeypatch)
    published = {"random/dag-6-6/eager-lookahead": 13.9}
    assert draw_speedups(ROWS, FACTS, published, tmp_path / "speed.svg")
    assert drawn.names == ["autoregressive 6-6, beam5", "dag 6-6, lookahead"]
    # ours over CTranslate2's; the graph in both tiers, least, of all samples and most of repeats
    assert drawn.spans == [
        (0.5, 0.5, 0.5),
        (pytest.approx(60 / 7), 10.0, 14.0),
        (2.0, 2.0, 2.5),
    ]
    (marks,) = drawn.panel.collections[-1:]
    assert marks.get_offsets().tolist() == [[13.9, 1.0]]
    text = (tmp_path / "speed.svg").read_text()
    assert "a GPU" in text and "beam5 70 ms (reference) and" in text
    assert "0 of 3 are †" in text
    assert "published" in text and "times as fast as beam 5" in text


@pytest.mark.parametrize(("median", "span"), [(5.0, (10.0, 12.0, 12.0)), (7.5, (8.0, 8.0, 10.0))])
def test_a_bar_reaches_to_the_speed_up_of_all_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, median: float, span: tuple[float, ...]
) -> None:
    """It may be beyond those of all repeats."""
    drawn = Drawn(monkeypatch)
    graph = timed("random/dag-6-6/eager-lookahead", [6.0, 6.0, 6.0])
    rows = [timed(AR + "fairseq-beam5", [60.0, 60.0, 60.0]), {**graph, "median": median}]
    assert draw_speedups(rows, FACTS, {}, tmp_path / "speed.svg")
    assert drawn.spans == [span]


def test_without_a_beam_or_a_decoder_nothing_is_drawn(tmp_path: Path) -> None:
    for rows in ([], ROWS[:1], ROWS[3:], [*ROWS[1:2], ROWS[3]], ROWS[5:]):
        assert not draw_speedups(rows, FACTS, {}, tmp_path / "speed.svg")
    assert not list(tmp_path.iterdir())


def test_what_was_published_is_read_where_rooms_say_it_stands() -> None:
    found = published_speedups(
        [
            row("random/dag-6-6/eager-lookahead", 1.0),
            row("random/dag-6-6/fastdecode-viterbi", 1.0),
            row("random/lattice-6-1/bf16-vocabulary", 1.0),
            row("random/autoregressive-6-1/int8-beam5", 1.0),
            row("random/bidirectional-6-6/pairs-eager-beam5", 1.0),
        ],
        DEFINITIONS,
    )
    assert found == {
        "random/dag-6-6/eager-lookahead": 13.9,
        "random/lattice-6-1/bf16-vocabulary": 19.62,
        "random/autoregressive-6-1/int8-beam5": 2.7,
    }


def test_places_are_of_decoders_that_are_timed() -> None:
    for family in untrained_families():
        room = untrained(family)
        timed = {f"{layers}/{name}" for layers in room.LAYERS for name in room.decoders(28, "cuda")}
        places = getattr(room, "PUBLISHED", {})
        assert places.keys() <= timed | {"6-1/bf16-vocabulary"}  # which a GPU has not
        rows = [row(f"random/{family}-{place}", 1.0) for place in places]
        assert len(published_speedups(rows, DEFINITIONS)) == len(places)


def test_what_stands_over_a_disturbed_time_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Drawn(monkeypatch)
    rows = [{**one, "disturbed": one["decoder"] == "fairseq-beam5"} for one in ROWS]
    assert draw_speedups(rows, FACTS, {}, tmp_path / "speed.svg")
    assert "1 of 3 are †" in " ".join(drawn.panel.figure.get_suptitle().split())
