"""Score one translations file: see fastdecode.measure.quality."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_json
from fastdecode.measure.quality import Generated, split_quality
from fastdecode.provenance import made, provenance
from fastdecode.translation import read_translations

files, names, params = snakemake.input, snakemake.wildcards, snakemake.params
listed = files.get("references")
with clear_errors():
    header, _, translations = read_translations(Path(files.translations))
    metrics = split_quality(
        translations,
        Path(files.raw),
        Path(files.tokenised),
        Generated(Path(listed), params.seed, names.split) if listed else None,
        params.language,
        params.lowercase,
    )
    record = {
        "provenance": header["provenance"],  # of the translations
        "scored": made(provenance(device="cpu")),
        "metrics": metrics,
    }
    write_json(Path(snakemake.output[0]), record)
