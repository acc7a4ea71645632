"""Write the table of systems: see fastdecode.report.tables."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.tables import plainest_speeds, systems_table, to_latex, to_markdown
from fastdecode.report.tidy import read_tidy

names, params = snakemake.wildcards, snakemake.params
with clear_errors():
    table = systems_table(
        plainest_speeds(read_tidy(Path(snakemake.input[0]))),
        names.dataset,
        names.split,
        denominator=tuple(params.speedup_over.split("/")),
        rows=[tuple(row) for row in params.rows],
        others=params.others,
    )
    label = f"tab:systems-{names.dataset}-{names.split}"
    for path, text in (
        (snakemake.output.md, to_markdown(table.frame, table.caption)),
        (snakemake.output.tex, to_latex(table.frame, table.caption, label)),
    ):
        write_lines(Path(path), text.splitlines())
