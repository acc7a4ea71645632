"""Judge the claims of a paper: see fastdecode.report.claims."""

from pathlib import Path

from fastdecode.config.claims import Claim
from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.files import read_json, write_csv
from fastdecode.report.claims.clocked import Clocked
from fastdecode.report.claims.evidence import Resamples, read_cells
from fastdecode.report.claims.judge import judge
from fastdecode.report.claims.printed import printed, verdicts
from fastdecode.report.claims.statistics import statistic_scores
from fastdecode.report.sheet import read_csv
from fastdecode.report.written import write_table

params, out = snakemake.params, snakemake.output
with clear_errors():
    claims = {name: Claim.model_validate(row) for name, row in params.claims.items()}
    artifacts = {name: Artifact.model_validate(row) for name, row in params.artifacts.items()}
    cells = {name: read_cells(artifacts[name], Path(path)) for name, path in params.cells.items()}
    resamples = Resamples(
        scores={
            **{where: read_csv(Path(path)) for where, path in params.scores.items()},
            **statistic_scores(read_json(Path(path)) for path in snakemake.input.statistics),
        },
        times=Clocked({where: Path(path) for where, path in params.times.items()}),
    )
    frame = verdicts(claims, judge(claims, artifacts, cells, resamples))
    write_csv(Path(out.csv), frame)
    write_table(printed(snakemake.wildcards.paper, frame), Path(out.md))
