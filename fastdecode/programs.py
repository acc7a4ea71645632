"""fairseq's own programs: `python -m fastdecode.programs train …` for fairseq-train.

Importing them through this package, fairseq is imported as it is everywhere else (see `lean`).
"""

import importlib
import sys


def main() -> None:
    """Run the program of fairseq that the first argument names, with the arguments after it."""
    name = sys.argv.pop(1)
    program = importlib.import_module(f"fairseq_cli.{name}")
    if "--user-dir" in sys.argv:  # fairseq will find it imported, and leave it at that
        importlib.import_module("fastdecode.plugin")
    if name == "train":  # only now: fairseq's program says where logs go before it imports the rest
        importlib.import_module("fastdecode.train.cpu_time").keep_cpu_time(program.Trainer)
    program.cli_main()


if __name__ == "__main__":
    main()
