"""Gather all measurements of a run: see fastdecode.report.tidy."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.tidy import gather

files = snakemake.input
with clear_errors():
    tidy = gather(
        snakemake.params.run,
        [Path(path) for path in files.training],
        [Path(path) for path in files.quality],
        [Path(path) for path in files.latency],
        [Path(path) for path in files.memory],
        [Path(path) for path in files.agreement],
    )
    write_csv(Path(snakemake.output[0]), tidy)
