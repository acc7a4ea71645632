"""What rows of this family say of what they fit and need."""

import sys
from typing import Any

import pytest
from pydantic import ValidationError

from fastdecode.errors import UserError
from fastdecode.families.aggressive.rows import Decoder, System
from fastdecode.families.dag.rows import LANGUAGE_MODEL
from fastdecode.families.parallel.rows import System as ParallelSystem

GAD = System(verifier="transformer")
SHARED = System(verifier="transformer", encoder="shared")
BLOCKWISE = System(kind="blockwise", k=10)
NAT = ParallelSystem()


@pytest.mark.parametrize(
    ("row", "fitting"),
    [
        ({}, [GAD, SHARED]),
        ({"mode": "draft"}, [GAD, SHARED]),
        ({"mode": "blockwise"}, [BLOCKWISE]),
        ({"encoders": "concurrent"}, [GAD, SHARED]),
        ({"encoders": "shared"}, [SHARED]),
        ({"encoders": "shared", "verifier": "transformer"}, [SHARED]),
        ({"encoders": "shared", "verifier": "transformer-6-1"}, []),
    ],
)
def test_a_decoder_fits_the_systems_of_its_mode(row: dict[str, Any], fitting: list[System]) -> None:
    decoder = Decoder(**row)
    assert [system for system in (GAD, SHARED, BLOCKWISE) if decoder.fits(system)] == fitting
    assert decoder.families == ("aggressive",)


def test_a_decoder_of_drafts_by_another_family() -> None:
    decoder = Decoder(drafter="parallel", verifier="transformer")
    assert decoder.families == ("parallel",) and decoder.fits(NAT)
    assert decoder.companions(NAT) == ("transformer",)


@pytest.mark.parametrize(("engine", "drafting"), [("fastdecode", "eager"), ("eager", "fastdecode")])
def test_both_decode_in_one_tier(engine: str, drafting: str) -> None:
    with pytest.raises(ValidationError, match="draft: its engine is of tier"):
        Decoder(drafter="parallel", verifier="t", engine=engine, draft={"engine": drafting})


def test_a_fast_drafter_is_the_twin_of_an_eager_one() -> None:
    eager, fast, other = (
        Decoder(drafter="dag", verifier="t", engine=engine, draft={"engine": engine, **more})
        for engine, more in (("eager", {}), ("fastdecode", {}), ("eager", {"search": "greedy"}))
    )
    assert eager.twin_key == fast.twin_key != other.twin_key


def test_the_arithmetic_is_that_of_a_coarser_drafter() -> None:
    draft = {"k": 8, "engine": "fastdecode"}
    rows = [
        Decoder(drafter="lattice", verifier="t", engine="fastdecode", draft=draft | more)
        for more in ({}, {"bf16": True})
    ]
    assert [row.precision("fp32") for row in rows] == ["fp32", "bf16"]
    assert Decoder().precision("fp16") == "fp16"


def test_a_drafters_language_model_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    draft: dict[str, object] = {"search": "beam"}
    with_model, without = (
        Decoder(drafter="dag", verifier="t", draft=draft | {"lm_weight": weight})
        for weight in (0.1, 0.0)
    )
    assert with_model.assets == ("lm", (LANGUAGE_MODEL,))
    assert without.assets is Decoder().assets is None
    assert Decoder(drafter="lattice", verifier="t", draft={"k": 8}).assets is None  # its family's
    monkeypatch.setitem(sys.modules, "kenlm", None)  # as if it were not installed
    with pytest.raises(UserError, match="kenlm"):
        with_model.check_installed()
    without.check_installed()
    Decoder().check_installed()


def test_whose_translations_are_mere_drafts() -> None:
    assert [Decoder(mode=mode).drafts_alone for mode in ("draft", "verify", "blockwise")] == [
        *(True, False, False)
    ]


def test_who_is_needed_to_train_and_to_decode() -> None:
    assert GAD.companions == SHARED.companions == ("transformer",)
    assert System(verifier="transformer", encoder="random").companions == ()
    assert BLOCKWISE.companions == ()
    assert Decoder().companions(System(verifier="t", encoder="random")) == ("t",)
    assert Decoder(verifier="other").companions(GAD) == ("other",)
    assert Decoder(mode="draft").companions(GAD) == ()
    assert Decoder(mode="blockwise").companions(BLOCKWISE) == ()


def test_strict_verification_repeats_greedy_search() -> None:
    limits = {"max_len_a": 1.2, "max_len_b": 10, "min_len": 1}
    greedy = ("transformer", {"beam": 1, **limits})
    assert Decoder(beta=1).repeats(GAD) == greedy
    assert Decoder(beta=5, tau=0.0).repeats(GAD) is None  # a tie may be taken for the best
    assert Decoder(beta=3, tau=1.0).repeats(GAD) is None
    assert Decoder(mode="draft").repeats(GAD) is None
    assert Decoder(mode="blockwise").repeats(BLOCKWISE) is None


def test_tiers_and_twins() -> None:
    eager, fast = Decoder(), Decoder(engine="fastdecode", encoders="concurrent")
    assert (eager.tier, fast.tier) == ("reference", "optimised")
    assert eager.twin_key == fast.twin_key != Decoder(beta=3).twin_key


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        (System, {}, "a drafter needs a verifier: name a system"),
        (System, {"kind": "blockwise", "verifier": "x"}, "is its own verifier: leave verifier out"),
        (System, {"kind": "blockwise", "k": 1}, "k has to be 2 or more"),
        (System, {"kind": "blockwise", "encoder": "shared"}, "encoder is for kind: drafter"),
        (System, {"kind": "blockwise", "activation": "gelu"}, "activation is for kind: drafter"),
        (System, {"kind": "blockwise", "positions": "learned"}, "positions is for kind: drafter"),
        (System, {"kind": "blockwise", "scale_embeddings": False}, "is for kind: drafter"),
        (Decoder, {"mode": "draft", "beta": 5}, "beta is for what is verified"),
        (Decoder, {"mode": "draft", "tau": 1.0}, "tau is for what is verified"),
        (Decoder, {"drafter": "parallel"}, "parallel needs mode: verify and a verifier"),
        (
            Decoder,
            {"drafter": "parallel", "verifier": "x", "encoders": "shared"},
            "encoders: apart",
        ),
        (
            Decoder,
            {"drafter": "parallel", "verifier": "x", "draft": {"serch": "ctc"}},
            'draft: unknown key "serch"; did you mean "search"?',
        ),
        (
            Decoder,
            {"drafter": "paralel", "verifier": "x"},
            'drafter: there is no "paralel"; did you mean "parallel"?',
        ),
        (Decoder, {"draft": {"k": 3}}, "has no decoder of its own"),
        (Decoder, {"mode": "draft", "verifier": "x"}, "runs one model: leave verifier"),
        (Decoder, {"mode": "blockwise", "encoders": "shared"}, "runs one model: leave verifier"),
        (Decoder, {"tau": -1}, "greater than or equal to 0"),
    ],
)
def test_rows_that_contradict_themselves(kind: Any, row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        kind(**row)
