"""What `make` calls: snakemake takes what follows --configfile for files, so order matters."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("more", "command"),
    [
        ([], "snakemake figures --cores all"),
        (["RUN=mine.yaml"], "snakemake figures --cores all --configfile mine.yaml"),
        (
            ["RUN=mine.yaml", "PAPERS=dag.table1,dag.figure6", "CORES=2"],
            "snakemake figures --cores 2 --configfile mine.yaml "
            "--config 'papers=[dag.table1,dag.figure6]'",
        ),
    ],
)
def test_make_figures_names_run_and_papers(more: list[str], command: str) -> None:
    # As of a shell: a make that runs the tests hands its own settings on.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    calls = subprocess.check_output(
        ["make", "-n", "figures", *more], cwd=ROOT, text=True, env=outside
    )
    assert calls.splitlines()[-1].rstrip() == f".venv/bin/{command}"
