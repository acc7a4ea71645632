"""Which clock tells the time of trainings."""

import pandas as pd

from fastdecode.report.training_time import OF_CPU, PASSED, clock, words

KNOWN = pd.DataFrame({"seconds": [10.0, 20.0], "cpu_seconds": [9.0, 18.0]})
OLD = pd.DataFrame({"seconds": [10.0, 20.0]})
CUT = pd.DataFrame({"seconds": [10.0, 20.0], "cpu_seconds": [9.0, float("nan")]})
CPU, GPU = "cpu: X, 2 cores", "cuda: Y"


def test_cpus_tell_their_own_time() -> None:
    assert clock([KNOWN, KNOWN], [CPU, CPU]) == OF_CPU
    assert words(OF_CPU) == ", CPU time"


def test_what_passed_is_told_of_gpus_and_where_one_training_knows_no_more() -> None:
    for curves, devices in (([KNOWN], [GPU]), ([KNOWN, KNOWN], [CPU, GPU])):
        assert clock(curves, devices) == PASSED
    for unknown in (OLD, CUT):
        assert clock([KNOWN, unknown], [CPU, CPU]) == PASSED
    assert words(PASSED) == ""
