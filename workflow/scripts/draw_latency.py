"""Write the numbers of a figure of latency and draw it: see fastdecode.report.latency_figures."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.latency_numbers import measured_so, numbers_of
from fastdecode.report.pictures import draw
from fastdecode.report.tidy import TIDY

names, files, out = snakemake.wildcards, snakemake.input, snakemake.output
with clear_errors():
    tidy = TIDY.read(Path(files.tidy))
    rows = measured_so(tidy, names.dataset, names.split, names.tier, names.threads)
    denominator = snakemake.params.denominator
    table = numbers_of(names.figure, rows, Path(files.samples), denominator)
    write_csv(Path(out.csv), table)
    draw(Path(out.csv), Path(out.svg), Path(out.png), Path(out.pdf))
