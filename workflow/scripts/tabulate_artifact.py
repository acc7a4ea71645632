"""Print one table of a paper: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.artifacts.make import tabulate
from fastdecode.report.tables import to_latex, to_markdown

name, out = snakemake.wildcards.artifact, snakemake.output
with clear_errors():
    artifact = Artifact.model_validate(snakemake.params.artifact)
    table = tabulate(name, artifact, Path(snakemake.input[0]))
    label = f"tab:{name.replace('.', '-')}"
    write_lines(Path(out.md), to_markdown(table.frame, table.caption).splitlines())
    write_lines(Path(out.tex), to_latex(table.frame, table.caption, label).splitlines())
