"""How the statistics of families are found by their names."""

import subprocess
import sys
from importlib import import_module

import pytest

from fastdecode.errors import UserError
from fastdecode.families import (
    FAMILIES,
    check_statistic,
    compares_with_teacher,
    statistic,
    statistics,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_stands_for_a_function(family: str) -> None:
    names = statistics(family)
    for name in names:
        check_statistic(family, name, "some-system")
        assert callable(statistic(family, name))
    if names:
        module = import_module(f"fastdecode.families.{family}.statistics")
        assert tuple(module.STATISTICS) == names


def test_only_what_compares_with_the_teacher_is_given_its_translations() -> None:
    assert compares_with_teacher("lattice", "recall")
    assert compares_with_teacher("parallel", "recall")
    assert not compares_with_teacher("lattice", "ranks")
    assert not compares_with_teacher("bidirectional", "steps")


def test_a_statistic_that_a_family_does_not_have() -> None:
    with pytest.raises(UserError, match='nat: family parallel has no statistic "recal"; did you'):
        check_statistic("parallel", "recal", "nat")
    with pytest.raises(UserError, match=r'autoregressive has no .* "recall" \(known: samples'):
        check_statistic("autoregressive", "recall", "transformer")


def test_names_are_known_without_pytorch() -> None:
    code = (
        "import sys; from fastdecode.families import FAMILIES, statistics; "
        "print([statistics(name) for name in FAMILIES]); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
