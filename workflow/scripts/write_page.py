"""Write the page of a run: see fastdecode.report.page."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.files import write_lines
from fastdecode.report.page.page import PaperOf, Report, page
from fastdecode.report.page.place import Place

params, out = snakemake.params, Path(snakemake.output[0])
with clear_errors():
    papers = []
    for paper in params.papers:
        rows = paper["artifacts"].items()
        artifacts = {key: Artifact.model_validate(row) for key, row in rows}
        papers.append(PaperOf(**{**paper, "artifacts": artifacts}))
    report = Report(
        place=Place(out.parent),
        papers=papers,
        **{key: params[key] for key in ("name", "splits", "speedup_over")},
        **{key: params[key] for key in ("speeds", "sentences", "figures", "files", "languages")},
    )
    write_lines(out, page(report).splitlines())
