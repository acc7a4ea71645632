"""Write the table of systems: see fastdecode.report.systems."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.report.systems import systems_table
from fastdecode.report.tidy import TIDY
from fastdecode.report.written import write_table

names, params, out = snakemake.wildcards, snakemake.params, snakemake.output
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
    write_table(table, Path(out.md), Path(out.tex), label)
