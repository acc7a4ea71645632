"""The reference of the package, as `make api` writes it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from fastdecode.families import FAMILIES

ROOT = Path(__file__).parents[1]


def test_make_api_writes_a_page_for_every_module(tmp_path: Path) -> None:
    # As of a shell: a make that runs the tests says where its own makes enter and leave.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    lines = subprocess.check_output(["make", "-n", "api"], cwd=ROOT, text=True, env=outside)
    *_, line = lines.replace("\\\n", " ").strip().splitlines()
    _, *command = shlex.split(line.replace("docs/api", str(tmp_path)))
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
    package = tmp_path / "fastdecode"
    assert all((package / f"families/{family}/decoders.html").is_file() for family in FAMILIES)
    assert "What a decoder returns for one source line." in (
        package / "translation.html"
    ).read_text(encoding="utf-8")
