from pathlib import Path

import pytest

from fastdecode.config.timed import SAMPLES, STAGES, fewest, stages_of, timing_file


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
