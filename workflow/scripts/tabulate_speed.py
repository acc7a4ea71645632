"""Write the table of speed, in numbers and in print: see fastdecode.report.speed_numbers."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.speed_numbers import did_not_fit, speed_rows
from fastdecode.report.speed_table import speed_table
from fastdecode.report.tidy import TIDY
from fastdecode.report.written import write_table

names, out = snakemake.wildcards, snakemake.output
with clear_errors():
    tidy = TIDY.read(Path(snakemake.input[0]))
    rows = speed_rows(
        tidy,
        names.dataset,
        names.split,
        names.scenario,
        snakemake.params.speedup_over,
    )
    left_out = did_not_fit(tidy, names.dataset, names.split, names.scenario)
    table = speed_table(rows, left_out)
    label = f"tab:speed-{names.dataset}-{names.split}-{names.scenario}"
    write_csv(Path(out.csv), rows)
    write_table(table, Path(out.md), Path(out.tex), label)
