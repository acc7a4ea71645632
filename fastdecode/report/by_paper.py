"""Pages that the project writes about itself, with a section and a table for each paper."""

from collections.abc import Callable, Iterator
from pathlib import Path

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Paper

PAPERS = ("lattice", "bidirectional", "aggressive", "dag")
NOTHING = "–"
MakeTable = Callable[[str, Paper, Path], Iterator[str]]
"""Takes a paper's key, the paper and the folder of documents. Yields the lines of its section."""


def by_paper(root: Path, head: str, table: MakeTable) -> str:
    """Return a page of the project in `root`: `head`, and a section for each paper."""
    sections = [head]
    for key in PAPERS:
        path = root / f"config/papers/{key}.yaml"
        paper = check(Paper, read_yaml(path), str(path))
        sections.append(f"## {_authors(paper)} ({paper.year}): {key}\n")
        sections.append("\n".join(table(key, paper, root / "docs")) + "\n")
    return "\n".join(sections)


def _authors(paper: Paper) -> str:
    names = [name.split()[-1] for name in paper.authors]
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."


def line(*cells: str) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def link(text: str, path: Path, docs: Path) -> str:
    """Return a link to a file below `docs`, from a page there."""
    return f"[{text}]({path.relative_to(docs)})"
