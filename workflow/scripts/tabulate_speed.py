"""Write the table of speed, in numbers and in print: see fastdecode.report.speed."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.speed import speed_rows, speed_table, write_speed
from fastdecode.report.tables import to_latex, to_markdown
from fastdecode.report.tidy import read_tidy

names, out = snakemake.wildcards, snakemake.output
with clear_errors():
    rows = speed_rows(
        read_tidy(Path(snakemake.input[0])),
        names.dataset,
        names.split,
        names.scenario,
        snakemake.params.speedup_over,
    )
    table = speed_table(rows)
    label = f"tab:speed-{names.dataset}-{names.split}-{names.scenario}"
    write_speed(Path(out.csv), rows)
    write_lines(Path(out.md), to_markdown(table.frame, table.caption).splitlines())
    write_lines(Path(out.tex), to_latex(table.frame, table.caption, label).splitlines())
