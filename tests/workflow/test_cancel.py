"""profiles/slurm/cancel with a queue of its own."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT

SQUEUE = """#!/bin/sh
test -e cancelled && exit
here=$(pwd -P)
job() { printf '%-20s%-100s%-1000s\\n' "$@"; }
job 11 fastdecode_run "$here"
job 12 fastdecode_run "${here}x"
job 13 other "$here"
"""


@pytest.mark.parametrize("name", ["plain", "with two spaces", "linked"])
def test_the_jobs_of_this_folder_are_cancelled(tmp_path: Path, name: str) -> None:
    programs, folder = tmp_path / "programs", tmp_path / name
    programs.mkdir()
    real = tmp_path / "real" if name == "linked" else folder
    real.mkdir()
    if name == "linked":
        folder.symlink_to(real)
    scancel = '#!/bin/sh\necho "$@" >> cancelled\n'
    for program, text in (("squeue", SQUEUE), ("scancel", scancel)):
        (programs / program).write_text(text)
        (programs / program).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    cancel = ["bash", "-c", f"cd '{folder}' && exec {ROOT}/profiles/slurm/cancel"]
    for said in ("", "no job of fastdecode in the queue works in"):
        done = subprocess.run(
            cancel, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
        )
        assert said in done.stderr
        assert (real / "cancelled").read_text() == "11\n"
