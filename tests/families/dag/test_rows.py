"""What a system row of graphs may say."""

import pytest
from pydantic import ValidationError

from fastdecode.families.dag.rows import System as Row


def test_a_ratio_that_no_glance_reads_is_refused() -> None:
    for glancing in ("uniform", "none"):
        with pytest.raises(ValidationError, match="glancing_ratio is for glancing: adaptive"):
            Row(glancing=glancing, glancing_ratio=(0.3, 0.1))


def test_emission_that_nothing_forces_is_refused() -> None:
    with pytest.raises(ValidationError, match="force_emission is of what glancing shows"):
        Row(glancing="none", force_emission=True)


def test_a_setting_that_the_loss_does_not_read_is_refused() -> None:
    assert Row(training={"dropout": 0.3})
    with pytest.raises(ValidationError, match="its loss has no label_smoothing: another value"):
        Row(training={"label_smoothing": 0.0})
