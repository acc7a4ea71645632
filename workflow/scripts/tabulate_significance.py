"""Write the table of paired tests: see fastdecode.report.significance."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.significance import read_comparisons, significance_table
from fastdecode.report.written import write_table

names, out = snakemake.wildcards, snakemake.output
with clear_errors():
    comparisons = read_comparisons(Path(snakemake.input[0]))
    write_csv(Path(out.csv), comparisons)
    table = significance_table(comparisons)
    label = f"tab:significance-{names.dataset}-{names.split}"
    write_table(table, Path(out.md), Path(out.tex), label)
