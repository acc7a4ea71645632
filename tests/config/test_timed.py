from pathlib import Path

import pytest

from fastdecode.config.base import merge, read_yaml
from fastdecode.config.read import Configuration
from fastdecode.config.run import Scenario
from fastdecode.config.timed import (
    BEGINS,
    DAY,
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
    def minutes(name: str, dataset: str, scenario: Scenario, **changed: object) -> int:
        whole = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / f"runs/{name}.yaml"))
        run = Configuration(merge(whole, changed), CONFIG)
        return timing_minutes(run, dataset, "reference", scenario)

    lattice = "toy-lattice", "toy.long", "S1"
    assert BEGINS < minutes(*lattice, device="cuda") < minutes(*lattice) < 2 * BEGINS
    aggressive = "aggressive", "wmt14.en-de.aggressive"
    assert minutes(*aggressive, "S1") == DAY  # fastdecode plan --device h100 says 16 hours
    assert BEGINS < minutes(*aggressive, "Smax") < 2 * BEGINS  # minutes, it says
    assert BEGINS < minutes(*aggressive, "S1", latency={"lines": 300}) < DAY / 2
