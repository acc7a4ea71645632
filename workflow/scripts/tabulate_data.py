"""Write the table of the data: see fastdecode.report.data."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv, write_lines
from fastdecode.report.data import DatasetFiles, data_table
from fastdecode.report.latex import to_latex
from fastdecode.report.tables import Table, to_markdown

CAPTION = "The data: lines, words and BPE pieces of every split, and why training lines went."
out = snakemake.output
with clear_errors():
    table = data_table(
        {
            name: DatasetFiles(
                Path(report),
                {split: (Path(source), Path(target)) for split, (source, target) in bpe.items()},
            )
            for name, report, bpe in snakemake.params.datasets
        }
    )
    write_csv(Path(out.csv), table)
    text = table.astype("string").fillna("")
    write_lines(Path(out.md), to_markdown(text, CAPTION).splitlines())
    write_lines(Path(out.tex), to_latex(Table(text, [CAPTION]), "tab:data").splitlines())
