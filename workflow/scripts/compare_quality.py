"""Test translations against baselines among them: see fastdecode.measure.significance."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_json
from fastdecode.measure.significance import compare_files
from fastdecode.provenance import provenance

files, params = snakemake.input, snakemake.params
with clear_errors():
    origin = provenance(  # of the code as it is now: this takes long
        dataset=snakemake.wildcards.dataset,
        device="cpu",  # where the tests are computed
        split=snakemake.wildcards.split,
        baselines=list(params.baselines),
    )
    rows = compare_files(
        [Path(path) for path in files.translations],
        params.baselines,
        list(read_lines(Path(files.raw))),
        params.language,
        params.lowercase,
    )
    write_json(Path(snakemake.output[0]), {"provenance": origin, "rows": rows})
