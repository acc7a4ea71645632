import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fastdecode.commands import main
from fastdecode.errors import INTERRUPTED
from fastdecode.measure.latency import Interrupted, Series, measure


def test_the_tables_are_printed_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = "--width 16 --ffn 32 --heads 2 --vocabulary 100 --length 5 --lines 2 --repeats 2"
    chosen = "--families lattice --layers 2-1 --decoders fastdecode-candidates"
    given = ["benchmark", *size.split(), *chosen.split(), "--out", str(tmp_path)]
    (tmp_path / "benchmark.svg").write_text("of another time")
    main(given)
    said = capsys.readouterr()
    assert said.out == (tmp_path / "benchmark.md").read_text() + "\n"
    assert "Random weights, 5 tokens in" in said.out
    assert f"{tmp_path}: benchmark.json, benchmark.md and every raw sample" in said.err
    assert (tmp_path / "benchmark.json").is_file()
    assert not (tmp_path / "benchmark.svg").exists()  # no beam 5 was timed
    before = (tmp_path / "benchmark.json").read_bytes()
    with pytest.raises(SystemExit, match="has the results of a benchmark: move that"):
        main(given)
    assert (tmp_path / "benchmark.json").read_bytes() == before


def test_an_interrupted_one_keeps_what_was_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = "--width 16 --ffn 32 --heads 2 --vocabulary 100 --length 5 --lines 2 --repeats 3"
    chosen = "--families lattice --layers 2-1 --decoders fastdecode-candidates"
    given = ["benchmark", *size.split(), *chosen.split(), "--out", str(tmp_path)]

    def early(*arguments: Any) -> list[Series]:
        raise Interrupted([series.first(2) for series in measure(*arguments)])

    monkeypatch.setattr("fastdecode.measure.benchmark.measure", early)
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == INTERRUPTED
    said = capsys.readouterr().out
    assert "over 2 lines and 2 repeats" in said and "Interrupted: more was asked for" in said
    kept = json.loads((tmp_path / "benchmark.json").read_text())
    assert kept["provenance"]["interrupted"] is True
    assert kept["rows"][0]["n"] == 2 * 2


def test_one_that_was_interrupted_before_the_first_repeat_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def early(*_: Any) -> list[Series]:
        raise Interrupted([])

    monkeypatch.setattr("fastdecode.measure.benchmark.measure", early)
    size = "--width 16 --ffn 32 --heads 2 --vocabulary 100 --families lattice --layers 2-1"
    with pytest.raises(SystemExit) as ended:
        main(["benchmark", *size.split(), "--out", str(tmp_path)])
    assert ended.value.code == INTERRUPTED
    assert not (tmp_path / "benchmark.json").exists()


@pytest.mark.parametrize("layers", ["6", "0-1", "6-1-1", "²-1", "6-"])
def test_what_is_no_number_of_layers(layers: str) -> None:
    with pytest.raises(SystemExit, match=f'--layers: "{layers}" is not of the form encoder-dec'):
        main(["benchmark", "--layers", layers])


def test_speed_ups_are_drawn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    size = "--width 16 --ffn 32 --heads 2 --vocabulary 100 --length 5 --lines 2 --repeats 2"
    chosen = "--families autoregressive dag --layers 6-6"
    decoders = "--decoders fairseq-beam5 eager-lookahead"
    given = [*size.split(), *chosen.split(), *decoders.split(), "--out", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "fastdecode", "benchmark", *given], check=True)
    said = capfd.readouterr()
    assert "DEBUG" not in said.err and "speed-ups as benchmark.svg" in said.err
    assert "dag 6-6, lookahead" in (tmp_path / "benchmark.svg").read_text()
    assert "×13.9" in said.out


@pytest.mark.parametrize("command", ["benchmark", "translate --system raw/transformer"])
def test_more_threads_than_cores_are_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--threads", "100000"])
    assert "--threads: 100000 is more than the " in capsys.readouterr().err
