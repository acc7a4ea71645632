"""Both ways of the loss are measured on the same problem."""

import pytest

from fastdecode.families.dag.benchmark import main


def test_both_ways_have_the_same_loss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["--sentences", "2", "--tokens", "4", "--vertices", "9", "--repeats", "1"]
    monkeypatch.setattr("sys.argv", ["benchmark", *sizes])
    main()
    title, _, _, *rows = capsys.readouterr().out.splitlines()
    assert "B=2 sentences, M=4 tokens, L=9 vertices" in title
    (fast, naive) = (row.split("|") for row in rows)
    assert (fast[1].strip(), naive[1].strip()) == ("scaled products", "loop in log space")
    assert fast[4] == naive[4]
    assert float(fast[4]) > 0
