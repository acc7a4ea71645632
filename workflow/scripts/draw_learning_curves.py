"""Draw learning curves: see fastdecode.report.figures."""

from pathlib import Path

import pandas as pd

from fastdecode.errors import clear_errors
from fastdecode.report.figures import learning_curves

out = snakemake.output
with clear_errors():
    curves = zip(snakemake.params.labels, map(pd.read_csv, snakemake.input), strict=True)
    learning_curves(dict(curves), Path(out.svg), Path(out.png), Path(out.pdf))
