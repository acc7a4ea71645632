"""Write the table of paired tests: see fastdecode.report.significance."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv, write_lines
from fastdecode.report.latex import to_latex
from fastdecode.report.significance import read_comparisons, significance_table
from fastdecode.report.tables import to_markdown

names, out = snakemake.wildcards, snakemake.output
with clear_errors():
    comparisons = read_comparisons(Path(snakemake.input[0]))
    write_csv(Path(out.csv), comparisons)
    table = significance_table(comparisons)
    label = f"tab:significance-{names.dataset}-{names.split}"
    write_lines(Path(out.md), to_markdown(table.frame, table.caption).splitlines())
    write_lines(Path(out.tex), to_latex(table, label).splitlines())
