"""Draw one figure of a paper: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.report.artifacts.make import draw

out = snakemake.output
with clear_errors():
    artifact = Artifact.model_validate(snakemake.params.artifact)
    pictures = Path(out.svg), Path(out.png), Path(out.pdf)
    draw(snakemake.wildcards.artifact, artifact, Path(snakemake.input[0]), pictures)
