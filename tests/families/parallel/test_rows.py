"""What the configuration may say, and what it may not."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from fastdecode.config.base import check
from fastdecode.errors import UserError
from fastdecode.families.parallel.rows import SEARCHES, Decoder, Kind, System
from fastdecode.families.parallel.training import RECIPES

ROWS = yaml.safe_load((Path(__file__).parents[3] / "config/systems/parallel.yaml").read_text())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"upsample": 2}, "upsample is for kind: ctc and ctc-glat, not nat"),
        ({"kind": "glat", "upsample": 3}, "upsample is for kind: ctc and ctc-glat, not glat"),
        ({"kind": "ctc", "upsample": 1}, '"upsample": input should be greater than or equal to 2'),
        ({"kind": "ctc", "glance": [0.5, 0.3]}, "glance is for kind: glat and ctc-glat, not ctc"),
        ({"source_copy": "soft"}, "source_copy is for kind: glat, ctc and ctc-glat, not nat"),
        ({"kind": "cmlm", "source_copy": "none"}, "source_copy is for kind: glat, ctc and ctc-gl"),
        ({"kind": "glat", "glance": [1.5, 0.3]}, '"glance.0": input should be less than'),
    ],
)
def test_senseless_systems_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        check(System, row, "here")
    assert str(error.value).startswith(f"here: {message}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"iterations": 4}, "iterations is for search: mask-predict, not argmax"),
        ({"search": "ctc", "merge": True}, "merge is for search: argmax, not ctc"),
        ({"search": "mask-predict", "merge": True}, "merge is for search: argmax, not mask-pred"),
        ({"search": "ctc", "length_beam": 5}, "length_beam is not for search: ctc, which predicts"),
        ({"beam": 4}, "beam is for search: ctc, not argmax"),
        ({"search": "viterbi"}, '"search": input should be'),
    ],
)
def test_senseless_decoders_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        check(Decoder, row, "here")
    assert str(error.value).startswith(f"here: {message}")


def test_every_kind_has_a_recipe_and_a_search() -> None:
    assert set(get_args(Kind)) == set(RECIPES) == set(SEARCHES)


def test_glat_and_ctc_begin_as_glat_does_in_the_code_of_its_authors() -> None:
    systems = {name: System(**row) for name, row in ROWS["systems"].items()}
    found = {name: (row.source_copy, row.activation) for name, row in systems.items()}
    others = {
        "ctc-even-copy": ("even", "gelu"),
        "ctc-relu": ("soft", "relu"),
        "ctc-no-copy": ("none", "gelu"),
        "ctc-glat-no-copy": ("none", "gelu"),
    }
    assert {name: found[name] for name in others} == others
    for name in found.keys() - others:
        mixes = systems[name].kind in ("glat", "ctc", "ctc-glat")
        assert found[name] == (("soft", "gelu") if mixes else ("even", "relu"))


@pytest.mark.parametrize(
    ("search", "kinds"),
    [
        ("argmax", {"nat", "glat"}),
        ("mask-predict", {"cmlm"}),
        ("ctc", {"ctc", "ctc-glat"}),
    ],
)
def test_decoders_fit_what_learned_for_them(search: str, kinds: set[str]) -> None:
    fitting = {kind for kind in get_args(Kind) if Decoder(search=search).fits(System(kind=kind))}
    assert fitting == kinds


def test_passes_are_those_of_the_search() -> None:
    assert Decoder(search="mask-predict").passes(9, System()) == (10, 9)
    assert Decoder(search="mask-predict", iterations=4).passes(9, System()) == (4, 9)
    assert Decoder(search="mask-predict", length_beam=3).passes(9, System()) == (10, 27)
    assert Decoder(search="ctc").passes(9, System(kind="ctc")) == (1, 18)
    assert Decoder().passes(9, System()) == (1, 9)


def test_optimised_decoders_have_twins() -> None:
    rows = {name: Decoder(**row) for name, row in ROWS["decoders"].items()}
    for name, row in rows.items():
        if row.tier == "optimised":
            twin = rows[name.removesuffix("-optimised")]
            assert (twin.tier, twin.twin_key) == ("reference", row.twin_key)
