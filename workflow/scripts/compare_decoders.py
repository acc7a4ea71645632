"""Compare every two decoders of a run in BLEU: see fastdecode.measure.differences."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_csv
from fastdecode.measure.differences import differences

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
with clear_errors():
    paths = map(Path, files.translations)
    frame = differences(
        list(zip(params.entries, params.drawn_as, paths, strict=True)),
        list(read_lines(Path(files.raw))),
        params.language,
        params.lowercase,
    )
    frame.insert(0, "dataset", names.dataset)
    frame.insert(1, "split", names.split)
    write_csv(Path(snakemake.output[0]), frame)
