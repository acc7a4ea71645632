"""Compare alignments with the true links of a generated corpus: fastdecode.measure.alignment."""

from pathlib import Path

from fastdecode.config.rows import RAW
from fastdecode.corpus.toy import read_links
from fastdecode.errors import clear_errors
from fastdecode.files import write_json
from fastdecode.measure.alignment import alignment_errors
from fastdecode.provenance import provenance

files = snakemake.input
with clear_errors():
    origin = provenance(snakemake.wildcards.dataset, device="cpu", target=RAW)
    errors = alignment_errors(
        list(map(Path, files.links)),
        Path(files.source),
        Path(files.target),
        Path(files.kept),
        read_links(Path(files.gold)),
    )
    write_json(Path(snakemake.output[0]), {"provenance": origin, "errors": errors})
