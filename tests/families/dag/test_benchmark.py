"""Both ways of each part of the loss are measured on the same problem."""

from pathlib import Path
from statistics import median

import pytest

from fastdecode.families.dag.benchmark import main
from fastdecode.files import read_json
from fastdecode.provenance import describe_cpu


def test_both_ways_have_the_same_sum(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sizes = {"sentences": 2, "tokens": 4, "vertices": 9, "words": 30, "width": 8, "repeats": 3}
    options = [f"--{name}={value}" for name, value in sizes.items()]
    options.append(f"--out={tmp_path / 'loss.json'}")
    monkeypatch.setattr("sys.argv", ["benchmark", *options])
    main()
    title, _, _, *rows = capsys.readouterr().out.splitlines()
    assert title == "B=2 sentences, M=4 tokens, L=9 vertices, V=30 words, d=8; with gradients"
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert [name for name, *_ in cells] == [
        "scores in blocks",
        "scores from all logits",
        "paths by scaled products",
        "paths by a loop in log space",
        "best path by maxima",
        "best path by a loop",
    ]
    for fast, naive in (cells[:2], cells[2:4], cells[4:]):
        assert float(fast[3]) == pytest.approx(float(naive[3]), rel=1e-4)
        assert float(fast[3]) > 0
    written = read_json(tmp_path / "loss.json")
    assert (written["vertices"], written["provenance"]["device"]) == (9, describe_cpu())
    for (name, ms, _, total), row in zip(cells, written["rows"], strict=True):
        assert row["way"] == name and len(row["seconds"]) == 3
        assert float(ms) == pytest.approx(median(row["seconds"]) * 1e3, abs=0.06)
        assert float(total) == pytest.approx(row["sum"], rel=1e-5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tokens=12", "--vertices=9"], "--tokens 12: no path of so many vertices"),
        (["--tokens=1"], "--tokens 1: no path of so many vertices"),
        (["--repeats=0"], "every number is at least 1"),
        (["--sentences=0"], "every number is at least 1"),
    ],
)
def test_what_has_nothing_to_measure_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmark", *options])
    with pytest.raises(SystemExit, match=f"error: {said}"):
        main()
    assert capsys.readouterr().out == ""
