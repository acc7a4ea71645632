"""Draw a figure of latency, write its numbers: see fastdecode.report.latency_figures."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import open_to_write
from fastdecode.report.latency_figures import draw_by_length, draw_speedups, draw_stages
from fastdecode.report.latency_numbers import (
    by_length,
    by_stage,
    measured_so,
    read_samples,
    speedups,
)
from fastdecode.report.speed import described, threads_of
from fastdecode.report.tables import seeds_of
from fastdecode.report.tidy import read_tidy

names, files, out = snakemake.wildcards, snakemake.input, snakemake.output
denominator = snakemake.params.denominator
pictures = Path(out.svg), Path(out.png), Path(out.pdf)
with clear_errors():
    rows = measured_so(
        read_tidy(Path(files.tidy)), names.dataset, names.split, names.tier, names.threads
    )
    head = f"{described(rows.assign(seeds=seeds_of(rows)))}, {threads_of(rows['threads'].iloc[0])}"
    if names.figure == "latency_by_length":
        table = by_length(read_samples(Path(files.samples)))
        draw_by_length(table, head, *pictures)
    elif names.figure == "speedup_distribution":
        table = speedups(read_samples(Path(files.samples)), denominator)
        draw_speedups(table, denominator, head, *pictures)
    else:
        table = by_stage(rows)
        draw_stages(table, head, *pictures)
    with open_to_write(Path(out.csv)) as file:
        table.to_csv(file, index=False, lineterminator="\n")
