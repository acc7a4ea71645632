"""The state of every table and figure: what is kept for it in `docs/measurements`."""

import csv
from pathlib import Path

from fastdecode.config.base import read_yaml

PAPERS = ("lattice", "bidirectional", "aggressive", "dag")
LEVELS = {"toy": "toy", "drafters": "toy, drafters", "multi30k": "Multi30k", "news": "news"}
HEAD = """# What is reproduced

Written by `make generated` from `config/papers/` and the files in `docs/measurements/`: how many
numbers of ours every table and figure of the four papers has, and on which data; – where there are
none. At the papers' scale nothing has run yet: that takes their corpora and GPUs, and
`config/runs/` has the runs (`make plan RUN=config/runs/dag.yaml`).
"""


def wanted(root: Path) -> dict[Path, str]:
    """Return the page of the project in `root`, with what it should hold."""
    sections = [HEAD]
    for paper in PAPERS:
        row = read_yaml(root / f"config/papers/{paper}.yaml")
        sections.append(f"## {row['authors'][0].split()[-1]} et al. ({row['year']}): {paper}\n")
        sections.append(_table(paper, row["artifacts"], root / "docs"))
    return {root / "docs/reproduced.md": "\n".join(sections)}


def _table(paper: str, artifacts: dict[str, dict[str, str]], docs: Path) -> str:
    levels = [
        level for level in LEVELS if any((docs / f"measurements/{paper}/{level}").glob("*.csv"))
    ]
    titles = [LEVELS[level] for level in levels]
    lines = [
        "| " + " | ".join(["artifact", "shows", *titles]) + " |",
        "|---|---|" + "---:|" * len(titles),
    ]
    for name, artifact in artifacts.items():
        kept = [docs / f"measurements/{paper}/{level}/{paper}.{name}.csv" for level in levels]
        cells = [name, artifact["title"], *(_cell(path, docs) for path in kept)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(path: Path, docs: Path) -> str:
    """Return how many numbers of ours a kept artifact has, linked to how it looks."""
    ours = 0
    if path.exists():
        with path.open(encoding="utf-8", newline="") as lines:
            ours = sum(row["source"] == "ours" for row in csv.DictReader(lines))
    if not ours:
        return "–"
    looks = next(path.with_suffix(end) for end in (".md", ".svg") if path.with_suffix(end).exists())
    return f"[{ours}]({looks.relative_to(docs)})"
