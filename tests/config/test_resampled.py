"""Which translations are resampled, and with whose seeds."""

from pathlib import Path

import pytest

from fastdecode.config.base import merge, read_yaml
from fastdecode.config.models import Model
from fastdecode.config.read import Configuration
from fastdecode.config.resampled import decided_by

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize(
    ("system", "decoder", "decides"),
    [
        ("gad", "gad-strict", "transformer-big/transformer"),
        ("gad", "gad-pp", "transformer-big/transformer"),
        ("gad", "gad-draft-only", "transformer-big/transformer"),  # trained from it, seed by seed
        ("gad-reference-code", "gad-strict", "transformer-big/transformer"),
        ("transformer", "greedy", "transformer-big/transformer"),
        ("nat", "nat-argmax", "transformer-big/nat"),
    ],
)
def test_a_verifier_decides_what_is_drafted(system: str, decoder: str, decides: str) -> None:
    run = read_yaml(CONFIG / "runs" / "toy-aggressive.yaml")
    config = Configuration(merge(read_yaml(CONFIG / "config.yaml"), run), CONFIG)
    model = Model("toy.long", "transformer-big", system, 2)
    assert decided_by(config, model, decoder) == decides
