"""Pages with a section for each paper."""

from collections.abc import Iterator
from pathlib import Path

from fastdecode.config.papers import Paper
from fastdecode.report.by_paper import PAPERS, by_paper, line, link
from tests.report.project import write_project


def test_every_paper_has_its_section_and_table(tmp_path: Path) -> None:
    write_project(tmp_path)

    def table(key: str, paper: Paper, docs: Path) -> Iterator[str]:
        yield line(key, paper.title)
        yield link("there", docs / "a/b.md", docs)

    page = by_paper(tmp_path, "# Head\n", table)
    assert page.startswith("# Head\n")
    for key in PAPERS:
        section = (
            f"## Lovelace and Babbage (1843): {key}\n\n| {key} | of an engine |\n[there](a/b.md)"
        )
        assert section in page
