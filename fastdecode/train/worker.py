"""One of several processes of a training, as torchrun starts them; and how they end together.

fairseq reads torchrun's variables too, but divides by the number of GPUs, of which a CPU has none.
"""

import os
import signal
import sys

from fastdecode import programs


def die_with_parent() -> None:
    """Have the kernel end this process when the one that started it is killed (Linux)."""
    import ctypes

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def main() -> None:
    """Run fairseq-train as the process that torchrun's environment says."""
    die_with_parent()
    sys.argv.insert(1, "train")
    sys.argv += [
        "--distributed-init-method",
        "env://",
        "--distributed-no-spawn",
        "--distributed-rank",
        os.environ["RANK"],
        "--device-id",
        os.environ["LOCAL_RANK"],
    ]
    programs.main()


if __name__ == "__main__":
    main()
