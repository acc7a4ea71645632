"""`fastdecode narrow`: the file it writes, and what it refuses."""

from pathlib import Path

import pytest
import yaml

from fastdecode.commands import main
from fastdecode.commands.selection import DEFINITIONS, read_run
from fastdecode.config.read import Configuration

RUN = DEFINITIONS / "runs/toy-lattice.yaml"


def test_the_file_is_a_run_over_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.yaml"
    main(
        ["narrow", "lattice.table2", "lattice.figure4", "--configfile", str(RUN), "--out", str(out)]
    )
    config = Configuration(read_run([out]), DEFINITIONS)
    assert config.run.name == "mine"
    assert list(config.papers["lattice"].artifacts) == ["table2", "figure4"]
    whole = Configuration(read_run([RUN]), DEFINITIONS)
    assert len(config.models()) < len(whole.models())
    said = f"{len(config.models())} trainings of the {len(whole.models())} of toy-lattice"
    assert said in capsys.readouterr().err
    head = out.read_text().splitlines()[:2]
    assert head[0] == "# What lattice.table2, lattice.figure4 needs of toy-lattice:"
    assert head[1] == f"#   snakemake figures --configfile {out}"


def test_the_default_run_can_be_narrowed(tmp_path: Path) -> None:
    out = tmp_path / "one.yaml"
    main(["narrow", "dag", "--out", str(out)])
    assert yaml.safe_load(out.read_text())["papers"] == ["dag"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["lattice.table99", "--out", "one.yaml"],
            'papers: lattice.table99: there is no "table99"',
        ),
        (["latice", "--out", "one.yaml"], 'there is no "latice"; did you mean "lattice"?'),
        (
            ["--out", "one.yaml", "--configfile", str(RUN), "lattice.table2"],
            "for which tables and figures? Name them first",
        ),
        (["lattice", "--out", "one.txt"], "--out: one.txt: take a name of its own that ends"),
        (["lattice", "--out", str(RUN)], "toy-lattice.yaml exists: take another name"),
        (["lattice", "--out", "toy-lattice.yaml"], "a run is called toy-lattice, whose report"),
        (["lattice", "--out", "toy-dag.yaml"], "a run is called toy-dag, whose report"),
        (["lattice", "--out", "toy.yaml"], "a run is called toy, whose report"),
        (["lattice", "--out", ".yaml"], "--out: .yaml: take a name of its own that ends in .yaml"),
        (
            ["lattice", "--out", "a b.yaml"],
            '--out: a b.yaml: "a b" would be the name of the run: expected a name of at most 100',
        ),
    ],
)
def test_what_it_refuses(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = RUN.read_bytes()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["narrow", *arguments, "--configfile", str(RUN)])
    assert said in str(ended.value.code)
    assert not list(tmp_path.iterdir()) and RUN.read_bytes() == before
