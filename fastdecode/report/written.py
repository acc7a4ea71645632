"""Tables as files: Markdown for people, LaTeX for papers."""

from pathlib import Path

from fastdecode.files import write_lines
from fastdecode.report.latex import to_latex
from fastdecode.report.tables import Table, to_markdown


def write_table(table: Table, md: Path, tex: Path | None = None, label: str = "") -> None:
    """Write a table as Markdown, and, where `tex` is a file, as LaTeX, which refers to `label`."""
    write_lines(md, to_markdown(table.frame, table.caption).splitlines())
    if tex:
        write_lines(tex, to_latex(table, label).splitlines())
