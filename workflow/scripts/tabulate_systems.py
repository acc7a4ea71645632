"""Write the table of systems: see fastdecode.report.tables."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.latex import to_latex
from fastdecode.report.systems import systems_table
from fastdecode.report.tables import to_markdown
from fastdecode.report.tidy import TIDY

names, params = snakemake.wildcards, snakemake.params
with clear_errors():
    table = systems_table(
        TIDY.read(Path(snakemake.input[0])),
        names.dataset,
        names.split,
        params.speedup_over,
        rows=[tuple(row) for row in params.rows],
        others=params.others,
    )
    label = f"tab:systems-{names.dataset}-{names.split}"
    for path, text in (
        (snakemake.output.md, to_markdown(table.frame, table.caption)),
        (snakemake.output.tex, to_latex(table, label)),
    ):
        write_lines(Path(path), text.splitlines())
