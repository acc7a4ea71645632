"""What the project writes about itself.

`python -m fastdecode.generated` writes the reference of all configuration keys, the table of what
was reproduced and that of the papers' claims; with `--check` it only says whether they are up to
date.
"""

import sys
from pathlib import Path

from fastdecode.config import reference
from fastdecode.report import claimed, reproduced

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write the files, or check them."""
    wanted = {**reference.wanted(ROOT), **reproduced.wanted(ROOT), **claimed.wanted(ROOT)}
    stale = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if sys.argv[1:] == ["--check"]:
        if stale:
            names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
            sys.exit(f"error: {names} not up to date: run `make generated`")
        return
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
