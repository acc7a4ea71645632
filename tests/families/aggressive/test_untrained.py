"""What is timed with nothing trained: both models run, and acceptance is as prescribed."""

from itertools import accumulate, cycle
from pathlib import Path

import pytest

from fastdecode.config.models import Architecture
from fastdecode.families.aggressive import untrained
from fastdecode.families.aggressive.untrained import ACCEPTED, K, build, decoders
from fastdecode.measure.untrained import Untrained
from fastdecode.system import System

LENGTH = 60


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> System:
    folder: Path = tmp_path_factory.mktemp("aggressive")
    return build(Untrained(Architecture(16, 24, 2, 1, 1), 3000, LENGTH, "cpu", "fp32", folder))


def test_the_published_mean_is_accepted(system: System) -> None:
    assert sum(ACCEPTED) / len(ACCEPTED) == pytest.approx(6.13, abs=0.01)
    rows = decoders(LENGTH, "cpu")
    sources = [[f"w{7 * n + row}" for n in range(9)] for row in range(3)]
    written = []
    for engine in ("eager", "fastdecode"):
        decoder = system.decoder("aggressive", rows[f"{engine}-gad-strict-prescribed"], " ".join)
        found = decoder(sources)
        alone = [decoder([source])[0] for source in sources]
        for translation in [*found, *alone]:
            steps = [n for n, _ in zip(cycle(ACCEPTED), translation.accepted, strict=False)]
            assert translation.accepted[:-1] == steps[:-1]
            assert len(translation.tokens) == LENGTH
            assert translation.passes == 1 + sum(n <= LENGTH for n in accumulate(steps))
            assert set(translation.stages) > {"encode", "encode-drafter", "draft", "verify"}
        assert [t.tokens for t in found] == [t.tokens for t in alone]
        written.append([t.tokens for t in found])
    assert written[0] == written[1]


def test_nothing_is_prescribed_to_the_drafter_alone(system: System) -> None:
    row = decoders(LENGTH, "cpu")["fastdecode-gad-draft-only"]
    (translation,) = system.decoder("aggressive", row, " ".join)([["w1", "w2"]])
    assert translation.accepted[:-1] == [K] * (translation.passes - 1)


def test_the_table_says_what_is_prescribed() -> None:
    assert "not measured but given" in untrained.NOTE
    named = [name for name in decoders(LENGTH, "cpu") if "draft-only" not in name]
    assert all(name.endswith("-prescribed") for name in named)
