"""Print one table of a paper as a page of HTML: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.artifacts.make import page

with clear_errors():
    artifact = Artifact.model_validate(snakemake.params.artifact)
    text = page(snakemake.wildcards.artifact, artifact, Path(snakemake.input[0]))
    write_lines(Path(snakemake.output[0]), text.splitlines())
