"""Pick example sentences: see fastdecode.report.page.sentences."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import open_to_write, read_lines
from fastdecode.report.page.sentences import examples

files, names = snakemake.input, snakemake.wildcards
with clear_errors():
    paths = map(Path, files.translations)
    frame = examples(
        names.dataset,
        names.split,
        dict(zip(snakemake.params.entries, paths, strict=True)),
        list(read_lines(Path(files.raw))),
    )
    with open_to_write(Path(snakemake.output[0])) as file:
        frame.to_csv(file, index=False, lineterminator="\n")
