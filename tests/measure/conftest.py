"""What the tests of speed and memory share: a trained system on a test set."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fastdecode.config.run import Latency
from fastdecode.corpus.bpe import learn
from fastdecode.files import read_lines
from fastdecode.text import Text

if TYPE_CHECKING:  # importing it imports PyTorch
    from fastdecode.measure.timing import Bench, Entry


@pytest.fixture
def bench(binarised: Path, tmp_path: Path) -> "Bench":
    """The validation set as raw lines, one of them blank."""
    from fastdecode.measure.timing import Bench

    learn([binarised.with_name("train.en")], 60, tmp_path / "codes.source")
    text = Text("en", "de", lowercase=False, pretokenised=False, codes=tmp_path)
    lines = ["", *read_lines(binarised.with_name("valid.en"))]
    settings = Latency(lines=3, batches=(2, 4, 99), batch_lines=6, warmup=1, repeats=2)
    return Bench(binarised, text, lines, "cpu", "fp32", settings)


@pytest.fixture
def entry(trained: Path) -> Callable[..., "Entry"]:
    """Makes entries of the trained model."""
    from fastdecode.measure.timing import Entry

    def make(decoder: str = "greedy", **settings: Any) -> Entry:
        return Entry(
            target="raw",
            system="tiny",
            seed=1,
            decoder=decoder,
            tier="reference",
            precision="fp32",
            family="autoregressive",
            settings=settings or {"beam": 1},
            checkpoint=str(trained / "checkpoint.pt"),
        )

    return make
