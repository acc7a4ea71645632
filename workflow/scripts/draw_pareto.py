"""Draw BLEU against speed: see fastdecode.report.pareto."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.report.pareto import draw_pareto
from fastdecode.report.speed_numbers import SPEEDS

out = snakemake.output
with clear_errors():
    rows = SPEEDS.read(Path(snakemake.input[0]))
    pictures = Path(out.svg), Path(out.png), Path(out.pdf)
    draw_pareto(rows, snakemake.wildcards.tier, *pictures)
