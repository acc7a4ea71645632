import pytest

from fastdecode.config.timed import fewest


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
