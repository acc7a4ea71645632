"""`fastdecode benchmark`: decoders side by side on random weights, nothing trained."""

import argparse
import re
import sys
from pathlib import Path

from fastdecode.commands.selection import DEFINITIONS, positive, threads
from fastdecode.errors import UserError
from fastdecode.families import untrained_families
from fastdecode.files import write_lines
from fastdecode.measure.disturbance import REPEATS, WARMUP

LONGEST = 1000  # tokens of a line: the models know 1,024 positions
DEFAULT = Path("results/benchmark")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options; the defaults are a base Transformer (Vaswani et al., 2017)."""
    parser.description = (
        "Time decoders side by side on random weights: nothing is trained, and what is written\n"
        "step by step is held to --length tokens. Writes a table and all raw samples, prints the\n"
        "table, and draws speed-ups over beam 5 beside the published ones. Ctrl-C ends it early,\n"
        "with the repeats that all decoders have."
    )
    parser.epilog = "example:\n  fastdecode benchmark --families autoregressive --layers 6-6 12-1"
    names = untrained_families()
    parser.add_argument(
        "--families", nargs="+", default=[], choices=names, help=f"(all: {' '.join(names)})"
    )
    parser.add_argument(
        "--layers",
        nargs="+",
        default=[],
        metavar="E-D",
        help="encoder-decoder layers of each model, such as 6-1 (each family's own)",
    )
    parser.add_argument(
        "--decoders",
        nargs="+",
        default=[],
        metavar="NAME",
        help="who decodes, as the tables name them: fairseq-beam5 fastdecode-candidates (all; "
        "a wrong name lists them)",
    )
    parser.add_argument(
        "--batches",
        nargs="+",
        type=int,
        default=[],
        metavar="B",
        help="sentences a batch, besides one at a time (none)",
    )
    parser.add_argument("--width", type=positive, default=512, help="model dimension (%(default)s)")
    parser.add_argument(
        "--ffn", type=positive, default=2048, help="feed-forward dimension (%(default)s)"
    )
    parser.add_argument("--heads", type=positive, default=8, help="attention heads (%(default)s)")
    parser.add_argument("--vocabulary", type=int, default=32000, help="words (%(default)s)")
    parser.add_argument(
        "--length",
        type=positive,
        default=28,
        help="tokens in, and out where they are held to it (%(default)s)",
    )
    parser.add_argument("--lines", type=positive, default=4, help="source lines (%(default)s)")
    parser.add_argument(
        "--warmup", type=int, default=WARMUP, help="lines before the clock counts (%(default)s)"
    )
    parser.add_argument(
        "--repeats", type=positive, default=REPEATS, help="passes over the lines (%(default)s)"
    )
    parser.add_argument("--threads", type=threads, default=1, help="CPU threads (%(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="(%(default)s)")
    parser.add_argument(
        "--precision",
        choices=("fp32", "fp16", "bf16"),
        default="fp32",
        help="arithmetic (%(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, default=DEFAULT, help="folder of the results (%(default)s)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Measure, write the results, print the table.

    Raises UserError on bad options, and KeyboardInterrupt at Ctrl-C, after all of that if there is
    something to write.
    """
    for layers in arguments.layers:
        if not re.fullmatch(r"[1-9][0-9]*-[1-9][0-9]*", layers):
            raise UserError(f'--layers: "{layers}" is not of the form encoder-decoder, such as 6-6')
    if arguments.width % arguments.heads:
        raise UserError(f"--width {arguments.width} is no multiple of --heads {arguments.heads}")
    for name, least in (("vocabulary", 100), ("warmup", 0)):
        if getattr(arguments, name) < least:
            raise UserError(f"--{name} {getattr(arguments, name)}: it must be at least {least}")
    if arguments.length > LONGEST:
        raise UserError(f"--length {arguments.length}: lines have at most {LONGEST} tokens here")
    if any(size < 2 for size in arguments.batches):
        raise UserError("--batches: sizes of at least 2; one at a time is always timed")
    if arguments.device == "cpu" and arguments.precision != "fp32":
        raise UserError(f"--precision {arguments.precision} needs --device cuda")
    if (arguments.out / "benchmark.json").exists():
        raise UserError(
            f"{arguments.out} has the results of a benchmark: move that folder away, or name "
            "another one (--out, or make benchmark OUT=...)"
        )

    import torch

    from fastdecode.devices import check_device, own_devices
    from fastdecode.measure.benchmark import Plan, benchmark
    from fastdecode.report.benchmark import published_speedups, tables
    from fastdecode.report.benchmark_figure import draw_speedups

    torch.set_num_threads(arguments.threads)  # before CTranslate2 asks how many
    values = {key: getattr(arguments, key) for key in Plan.__dataclass_fields__}
    with own_devices(arguments.device, 1):
        check_device(arguments.device)
        rows, facts = benchmark(Plan(**values), arguments.out)
    published = published_speedups(rows, DEFINITIONS)
    text = tables(rows, facts, published)
    write_lines(arguments.out / "benchmark.md", text.splitlines())
    print(text)
    written = "benchmark.json, benchmark.md and every raw sample"
    picture = arguments.out / "benchmark.svg"
    picture.unlink(missing_ok=True)  # an earlier one, should there be nothing to draw now
    if draw_speedups(rows, facts, published, picture):
        written += ", and speed-ups as benchmark.svg"
    print(f"{arguments.out}: {written}", file=sys.stderr)
    if facts["interrupted"]:
        raise KeyboardInterrupt
