from pathlib import Path

import pytest

from fastdecode.config.base import merge, read_yaml
from fastdecode.config.read import Configuration
from fastdecode.config.timed import (
    BEGINS,
    SAMPLES,
    STAGES,
    fewest,
    stages_of,
    timing_file,
    timing_minutes,
)

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize(
    ("threads", "least"),
    [
        (["1", "all"], "1"),
        (["2", "10"], "2"),
        (["all", "64"], "64"),  # of more cores than here, where another machine times
        (["all"], "all"),
    ],
)
def test_no_number_of_threads_is_greater_than_all(threads: list[str], least: str) -> None:
    assert fewest(threads) == least


@pytest.mark.parametrize("compressed", ["", ".gz"])
def test_stages_lie_beside_the_samples_of_their_timing(compressed: str) -> None:
    timing = "toy.samples", "test", "reference", "S1", "all"
    samples, stages = (f"{timing_file(*timing, kind)}{compressed}" for kind in (SAMPLES, STAGES))
    assert stages_of(Path(samples)) == Path(stages) != Path(samples)
    assert timing_file(*timing, SAMPLES).startswith("latency/toy.samples.test.reference.S1.threads")


def test_a_timing_may_take_as_long_as_its_sentences_do() -> None:
    def minutes(name: str, dataset: str, tier: str, scenario: str, **changed: object) -> int:
        whole = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / f"runs/{name}.yaml"))
        return timing_minutes(Configuration(merge(whole, changed), CONFIG), dataset, tier, scenario)

    lattice = "toy-lattice", "toy.long", "reference", "S1"
    assert BEGINS < minutes(*lattice, device="cuda") < minutes(*lattice) < 2 * BEGINS
    aggressive = "aggressive", "wmt14.en-de.aggressive", "reference", "S1"
    whole = minutes(*aggressive)
    assert whole > 16 * 60  # fastdecode plan --device h100 says 16 hours
    few = minutes(*aggressive, latency={"lines": 300, "batches": [8], "batch_lines": 64})
    assert BEGINS < few < whole / 3
