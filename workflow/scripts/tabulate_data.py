"""Write the table of the data: see fastdecode.report.data."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.data import DatasetFiles, data_table
from fastdecode.report.tables import Table
from fastdecode.report.written import write_table

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
    write_table(Table(text, [CAPTION]), Path(out.md), Path(out.tex), "tab:data")
