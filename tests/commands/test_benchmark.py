from pathlib import Path

import pytest

from fastdecode.commands import main


def test_the_tables_are_printed_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = "--width 16 --ffn 32 --heads 2 --vocabulary 100 --length 5 --lines 2 --repeats 2"
    chosen = "--families lattice --layers 2-1 --decoders fastdecode-candidates"
    main(["benchmark", *size.split(), *chosen.split(), "--out", str(tmp_path)])
    said = capsys.readouterr()
    assert said.out == (tmp_path / "benchmark.md").read_text() + "\n"
    assert "Random weights, 5 tokens in and out" in said.out
    assert f"{tmp_path}: benchmark.json, benchmark.md and every raw sample" in said.err
    assert (tmp_path / "benchmark.json").is_file()


@pytest.mark.parametrize("command", ["benchmark", "translate --system raw/transformer"])
def test_more_threads_than_cores_are_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--threads", "100000"])
    assert "--threads: 100000 is more than the " in capsys.readouterr().err
