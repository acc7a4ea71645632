from pathlib import Path

import pytest

from fastdecode.config.timed import SAMPLES, STAGES, fewest, stages_of, timing_file


@pytest.mark.parametrize(
    ("threads", "cores", "least"),
    [
        (["1", "all"], 8, "1"),
        (["2", "10"], 8, "2"),
        (["4", "all"], 8, "4"),
        (["4", "all"], 2, "all"),  # as the cells of tables have it, which know the number
    ],
)
def test_the_fewest_threads_are_those_that_run(threads: list[str], cores: int, least: str) -> None:
    assert fewest(threads, cores) == least


@pytest.mark.parametrize("compressed", ["", ".gz"])
def test_stages_lie_beside_the_samples_of_their_timing(compressed: str) -> None:
    timing = "toy.samples", "test", "reference", "S1", "all"
    samples, stages = (f"{timing_file(*timing, kind)}{compressed}" for kind in (SAMPLES, STAGES))
    assert stages_of(Path(samples)) == Path(stages) != Path(samples)
    assert timing_file(*timing, SAMPLES).startswith("latency/toy.samples.test.reference.S1.threads")
