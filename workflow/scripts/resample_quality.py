"""Resample what translations have: see fastdecode.measure.resamples."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_csv
from fastdecode.measure.resamples import Reference, resample_files

files, params = snakemake.input, snakemake.params
with clear_errors():
    reference = Reference(
        raw=list(read_lines(Path(files.raw))),
        tokenised=list(read_lines(Path(files.tokenised))),
        language=params.language,
        lowercase=params.lowercase,
    )
    paths = map(Path, files.translations)
    translated = list(zip(params.entries, params.drawn_as, paths, strict=True))
    frame = resample_files(snakemake.wildcards.metric, translated, reference)
    write_csv(Path(snakemake.output[0]), frame)
