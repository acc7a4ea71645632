"""A table on disk: Markdown, and LaTeX where it is wanted."""

from pathlib import Path

import pandas as pd

from fastdecode.report.tables import Table
from fastdecode.report.written import write_table


def test_a_table_is_written_as_markdown_and_as_latex(tmp_path: Path) -> None:
    table = Table(pd.DataFrame({"name": ["a"], "BLEU": ["30.1"]}), ["Scores.", "Of one."])
    md, tex = tmp_path / "x.md", tmp_path / "x.tex"
    write_table(table, md)
    assert [path.name for path in tmp_path.iterdir()] == ["x.md"]
    write_table(table, md, tex, "tab:scores")
    assert md.read_text() == "Scores. Of one.\n\n| name | BLEU |\n| --- | ---: |\n| a | 30.1 |\n"
    assert r"\label{tab:scores}" in tex.read_text()
