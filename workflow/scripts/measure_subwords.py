"""Measure what a dataset's BPE comes to: see fastdecode.measure.subwords."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_json
from fastdecode.measure.subwords import measure_subwords
from fastdecode.provenance import provenance

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
with clear_errors():
    origin = provenance(names.dataset, device="cpu", split=names.split, corpus=params.corpus)
    measured = measure_subwords(
        list(map(Path, files.texts)),
        list(map(Path, files.codes)),
        [Path(files.data, f"dict.{language}.txt") for language in params.languages.values()],
    )
    asked = {"merges_asked": params.merges, "languages": params.languages}
    write_json(Path(snakemake.output[0]), {"provenance": origin, **asked, **measured})
