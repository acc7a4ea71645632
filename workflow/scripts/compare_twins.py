"""Compare fast decoders with their naive twins: see fastdecode.measure.agreement."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_json
from fastdecode.measure.agreement import agreement
from fastdecode.provenance import provenance
from fastdecode.report.agreement import agreement_table
from fastdecode.report.written import write_table

files, names = snakemake.input, snakemake.wildcards
with clear_errors():
    rows = [
        agreement(Path(path), Path(twin))
        for path, twin in zip(files.translations, files.twins, strict=True)
    ]
    origin = provenance(
        dataset=names.dataset,
        device="cpu",  # where they are compared
        split=names.split,
    )
    write_json(Path(snakemake.output.json), {"provenance": origin, "rows": rows})
    table = agreement_table(rows, names.dataset, names.split)
    write_table(table, Path(snakemake.output.md))
