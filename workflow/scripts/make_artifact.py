"""Make the numbers of one table or figure of a paper: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.files import read_json
from fastdecode.report.artifacts.evidence import Curve, Evidence, Part
from fastdecode.report.artifacts.make import make
from fastdecode.report.tidy import TIDY

files, params = snakemake.input, snakemake.params
with clear_errors():
    tests = [read_json(Path(path)) for path in files.comparisons]
    rows = {test["provenance"]["dataset"]: test["rows"] for test in tests}
    stages = {dataset: Path(path) for dataset, path in params.stages.items()}
    counted = [read_json(Path(path)) for path in files.subwords]
    subwords = {count["provenance"]["dataset"]: count for count in counted}
    samples = {
        dataset: {tier: Path(path) for tier, path in by_tier.items()}
        for dataset, by_tier in params.samples.items()
    }
    evidence = Evidence(
        artifact=Artifact.model_validate(params.artifact),
        tidy=TIDY.read(Path(files.tidy)),
        parts={
            dataset: Part(
                **part,
                comparisons=rows.get(dataset, []),
                stages=stages.get(dataset),
                subwords=subwords.get(dataset),
                samples=samples[dataset],
            )
            for dataset, part in params.parts.items()
        },
        statistics=[read_json(Path(path)) for path in files.statistics],
        curves=[
            Curve(**model, path=Path(path))
            for model, path in zip(params.curves, files.curves, strict=True)
        ],
    )
    make(evidence, Path(snakemake.output[0]))
