"""Pick example sentences: see fastdecode.report.page.sentences."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_csv
from fastdecode.report.artifacts.points import POINTS, line_of
from fastdecode.report.page.sentences import examples

files, names = snakemake.input, snakemake.wildcards
with clear_errors():
    paths = map(Path, files.translations)
    here = names.dataset, names.split
    lines = [line_of(POINTS.read(Path(path))) for path in files.drawings]
    frame = examples(
        names.dataset,
        names.split,
        dict(zip(snakemake.params.entries, paths, strict=True)),
        list(read_lines(Path(files.raw))),
        {int(line[2]) for line in lines if line and line[:2] == here},
    )
    write_csv(Path(snakemake.output[0]), frame)
