"""What the tests of this folder share."""

from typing import Any

import pytest


@pytest.fixture
def origin() -> dict[str, Any]:
    """The provenance of a statistic."""
    return {
        **{"dataset": "toy", "target": "big", "system": "lattice", "seed": 1, "split": "valid"},
        **{"device": "cpu: X", "commit": "abc"},
    }
