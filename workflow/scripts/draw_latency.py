"""Write the numbers of a figure of latency and draw it: see fastdecode.report.latency_figures."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.latency_numbers import (
    by_length,
    by_stage,
    measured_so,
    read_samples,
    speedups,
    with_settings,
)
from fastdecode.report.pictures import draw
from fastdecode.report.tidy import read_tidy

names, files, out = snakemake.wildcards, snakemake.input, snakemake.output
denominator, over = snakemake.params.denominator, ""
with clear_errors():
    rows = measured_so(
        read_tidy(Path(files.tidy)), names.dataset, names.split, names.tier, names.threads
    )
    if names.figure == "latency_by_length":
        table = by_length(read_samples(Path(files.samples)))
    elif names.figure == "speedup_distribution":
        table, over = speedups(read_samples(Path(files.samples)), denominator), denominator
    else:
        table = by_stage(rows)
    write_csv(Path(out.csv), with_settings(table, rows, over))
    draw(Path(out.csv), Path(out.svg), Path(out.png), Path(out.pdf))
