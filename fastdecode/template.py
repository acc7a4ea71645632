"""A family that begins as a copy of docs/template: `make family NAME=mine`.

Nothing is overwritten, and the copy works as it is: docs/add-a-decoder.md.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

import yaml

from fastdecode.config.checks import FOLDERS
from fastdecode.config.papers import DISTILLED
from fastdecode.config.rows import RAW, UNTRAINED
from fastdecode.errors import UserError, clear_errors

ROOT = Path(__file__).parents[1]
WORD = "template"  # stands for the name in every file
TAKEN = {*FOLDERS, RAW, UNTRAINED, DISTILLED}


def begin(name: str, root: Path) -> list[str]:
    """Copy the template for a family of this name; return the places, below the repository `root`.

    Raises UserError on what cannot be a name, and where a place or a row has it already.
    """
    _check_name(name)
    places = {
        f"fastdecode/families/{name}": "room",
        f"tests/families/{name}": "tests",
        f"config/systems/{name}.yaml": "rows.yaml",
        f"config/runs/{name}.yaml": "run.yaml",
    }
    _check_free(name, places, root)
    for place, part in places.items():
        source = root / "docs/template" / part
        files = [path for path in source.rglob("*") if path.suffix in (".py", ".md")] or [source]
        for file in files:
            copy = root / place / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8")
            copy.write_text(text.replace(WORD, name), encoding="utf-8")
    _lay_out([place for place in places if (root / place).is_dir()], root)
    return list(places)


def _check_name(name: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise UserError(f"NAME={name}: small letters, digits and _, such as: make family NAME=mine")
    if name in TAKEN or not isinstance(yaml.safe_load(name), str):
        raise UserError(f"NAME={name}: the name is taken, in results/ or by YAML: choose another")
    if iskeyword(name):
        raise UserError(f"NAME={name}: it is a word of Python: choose another")


def _check_free(name: str, places: Iterable[str], root: Path) -> None:
    for place in places:
        if (root / place).exists():
            raise UserError(f"{place} is there already: choose another NAME")
    for path in (root / "config/systems").glob("*.yaml"):
        if re.search(f"^  {name}(-argmax)?:", path.read_text(encoding="utf-8"), re.MULTILINE):
            raise UserError(f"NAME={name}: a row of config/systems has this name: choose another")
    if (root / f"config/datasets/{name}.yaml").exists():  # as the report of the demo, toy, is named
        raise UserError(f"NAME={name}: a dataset has this name: choose another")


def _lay_out(folders: Sequence[str], root: Path) -> None:
    """Lay out the code again: a longer or shorter name breaks lines elsewhere."""
    if find_spec("ruff"):
        for command in (["check", "--select", "I", "--fix"], ["format"]):
            ruff = [sys.executable, "-m", "ruff", *command, "--quiet", *folders]
            subprocess.run(ruff, cwd=root, check=True)


def main() -> None:
    """Begin the family that the argument names."""
    with clear_errors():
        print("wrote", *begin(sys.argv[1], ROOT))


if __name__ == "__main__":
    main()
