"""Which system is meant: each mistake is one line that says what there is."""

import shutil
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fastdecode.commands.selection import Selection, add_selection, read_run, select
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder
from fastdecode.families.lattice.rows import Decoder as LatticeDecoder
from fastdecode.files import write_json
from tests.commands.conftest import Place

SYSTEM = ("--system", "raw/transformer")


def selected(place: Place, *arguments: str) -> Selection:
    parser = ArgumentParser()
    add_selection(parser)
    return select(parser.parse_args(place.arguments("x", *arguments)[1:]))


def test_the_first_of_everything_is_meant_unless_told(place: Place) -> None:
    selection = selected(place, *SYSTEM)
    raw = place.results / "numbers/raw"
    assert selection.checkpoints == [raw / "transformer/seed1/checkpoint.pt"]
    assert selection.data == raw / "bin"
    assert selection.text == {
        "source": "en",
        "target": "de",
        "lowercase": True,
        "pretokenised": False,
        "codes": place.results / "numbers/bpe",
    }
    greedy, beam10 = (selection.decoder(name) for name in (None, "beam10"))
    assert greedy.family == "autoregressive"
    beams = [chosen.row.model_dump()["beam"] for chosen in (greedy, beam10)]
    assert beams == [1, 10]  # the run's first; any that is defined
    assert (greedy.assets, greedy.companions) == (None, {})
    named = selected(place, *SYSTEM, "--dataset", "numbers", "--seed", "1")
    assert named.checkpoints == selection.checkpoints


def test_mere_drafts_are_asked_for_by_name(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    selection = selected(place, *SYSTEM)
    monkeypatch.setattr(Decoder, "drafts_alone", property(lambda row: row.beam == 1))
    assert [selection.decoder(name).name for name in (None, "greedy")] == ["beam5", "greedy"]
    monkeypatch.setattr(Decoder, "drafts_alone", property(lambda row: True))
    assert selection.decoder(None).name == "greedy"  # there is no other


def test_the_files_that_a_decoder_needs_besides_must_be_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = selected(place, *SYSTEM)
    needed = ("lm", ("5gram.binary", "vocabulary"))
    monkeypatch.setattr(Decoder, "assets", property(lambda row: needed if row.beam > 1 else None))
    assert selection.decoder("greedy").assets is None
    with pytest.raises(UserError, match=r"numbers/raw/lm/5gram.binary does not exist yet: make"):
        selection.decoder("beam5")
    folder = place.results / "numbers/raw/lm"
    folder.mkdir()
    try:
        for name in needed[1]:
            (folder / name).touch()
        assert selection.decoder("beam5").assets == folder
    finally:
        shutil.rmtree(folder)


def test_the_systems_that_decode_with_another_must_be_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = selected(place, *SYSTEM)
    names = {1: ("transformer-big",), 5: ("transformer-6-1",)}
    monkeypatch.setattr(Decoder, "companions", lambda row, system: names[row.beam])
    found = place.results / "numbers/raw/transformer-big/seed1/checkpoint.pt"
    assert selection.decoder("greedy").companions == {"transformer-big": found}
    with pytest.raises(UserError, match=r"raw/transformer-6-1/seed1/checkpoint.pt does not exist"):
        selection.decoder("beam5")


def test_an_ensemble_has_decoders_of_its_own(place: Place, tmp_path: Path) -> None:
    run = yaml.safe_load(place.configfile.read_text()) | {"decoders": ["beam5-optimised", "greedy"]}
    run["speedup_over"] = {"reference": "raw/transformer/greedy"}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run))
    ensemble = selected(
        place, "--system", "raw/transformer-big-x3", "--configfile", str(tmp_path / "run.yaml")
    )
    assert ensemble.decoder(None).row == ensemble.configuration.decoders["greedy"]


def test_ensembles_that_the_run_does_not_train_are_not_offered(place: Place) -> None:
    with pytest.raises(UserError) as error:
        selected(place, "--system", "x")
    assert "raw/transformer-big" in str(error.value) and "-x3" not in str(error.value)


def test_a_teacher_and_an_ensemble_are_meant_too(place: Place) -> None:
    raw = place.results / "numbers/raw/transformer-big"
    assert selected(place, "--system", "raw/transformer-big").checkpoints == [
        raw / "seed1/checkpoint.pt"
    ]
    ensemble = selected(place, "--system", "raw/transformer-big-x3")
    assert ensemble.checkpoints == [raw / f"seed{seed}/checkpoint.pt" for seed in (1, 2, 3)]


def test_settings_other_than_the_configurations_are_said(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    selection = selected(place, *SYSTEM)
    config, record = selection.configuration, selection.checkpoints[0].with_name("train.json")
    settings = config.training("numbers", "transformer").model_dump()
    before = record.read_bytes() if record.exists() else None
    try:
        write_json(record, {"training": settings, "architecture": {"width": 512}})
        selection.must_be_trained()
        assert capsys.readouterr().err == ""
        write_json(record, {"training": settings | {"max_epochs": 9}, "architecture": {"width": 8}})
        selection.must_be_trained()
        (said,) = capsys.readouterr().err.splitlines()
        assert "width 8 instead of 512, max_epochs 9 instead of 4: name" in said
        assert "raw/transformer/seed1] not trained as configured" in said
        write_json(record, {"trained": "elsewhere", "training": None})
        selection.must_be_trained()
        assert capsys.readouterr().err == ""
    finally:
        record.unlink() if before is None else record.write_bytes(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--system", "raw/transfomer"), 'no "raw/transfomer"; did you mean "raw/transformer"?'),
        (("--system", "raw/transformer-6-1"), "--system of this run (others: --configfile)"),
        (
            (*SYSTEM, "--dataset", "toy"),
            "--dataset of this run (others: --configfile): there is no",
        ),
        ((*SYSTEM, "--decoder", "beam55"), 'no "beam55"; did you mean "beam5"?'),
        (
            (*SYSTEM, "--seed", "7"),
            "raw/transformer/seed7/checkpoint.pt does not exist yet: make it with `snakemake "
            "results/numbers/raw/transformer/seed7/checkpoint.pt --configfile",
        ),
        ((*SYSTEM, "--seed", "7"), "trained so far: seed 1"),
        (("--system", "transformer-big/transformer"), "seed1/checkpoint.pt does not exist yet"),
        (  # before it is asked to be trained
            ("--system", "transformer-big/transformer", "--decoder", "gad-strict"),
            "--decoder: gad-strict does not decode transformer: take one of",
        ),
        (
            (*SYSTEM, "--results", "kept"),
            "checkpoint.pt does not exist: name with --results the folder `results` of the run",
        ),
        (
            (*SYSTEM, "--results", "elsewhere/results"),
            "checkpoint.pt does not exist: name with --results the folder `results` of the run",
        ),
        (
            (*SYSTEM, "second.yaml"),
            "second.yaml would be translated: a run's file goes behind a --configfile of its own",
        ),
        (("--system", "raw/transformer-big-x3", "--seed", "1"), "leave --seed out"),
        ((*SYSTEM, "--configfile", "no.yaml"), "no.yaml: no such file"),
        ((*SYSTEM, "no/such/file"), "no/such/file: no such file"),
        ((*SYSTEM, "/"), "/ is a folder: name a file of raw lines"),
        ((*SYSTEM, "--batch", "0"), "argument --batch: '0' is not a whole number above 0"),
        ((), "the following arguments are required: --system"),
    ],
)
def test_a_wrong_call_is_one_line_of_error(
    place: Place, arguments: tuple[str, ...], message: str
) -> None:
    process = place.start("translate", *arguments)
    out, err = (stream.decode() for stream in process.communicate())
    assert process.returncode in (1, 2) and out == ""
    *usage, line = err.splitlines()
    assert "error: " in line and message in line
    assert not usage or usage[0].startswith("usage: ")


@pytest.mark.parametrize(
    ("missing", "made"), [("numbers/bpe/codes.source", "codes.source"), ("numbers/raw/bin", "bin")]
)
def test_what_a_system_needs_besides_is_named(
    place: Place, missing: str, made: str, tmp_path: Path
) -> None:
    other = Place(tmp_path)
    other.configfile = place.configfile
    other.results.symlink_to(place.results)
    moved = place.results / missing
    moved.rename(tmp_path / "away")
    try:
        with pytest.raises(UserError, match=rf"{missing} does not exist yet: make it .*{made}"):
            selected(other, *SYSTEM).must_be_trained()
    finally:
        (tmp_path / "away").rename(moved)


def test_a_configfile_that_is_no_mapping(place: Place, tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("[1]")
    with pytest.raises(UserError, match=r"list.yaml: expected keys and values, found \[1\]"):
        selected(place, *SYSTEM, "--configfile", str(tmp_path / "list.yaml"))


@pytest.mark.parametrize(
    ("text", "found"), [("", "nothing"), ("# name: x\n", "nothing"), ("[]", "[]")]
)
def test_a_configfile_with_nothing_in_it(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        read_run([path])
    assert str(error.value) == f"{path}: expected keys and values, found {found}"


def test_a_decoder_has_to_fit_the_system(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    selection = selected(place, *SYSTEM)
    with pytest.raises(UserError) as error:
        selection.decoder("lattice-k1")
    assert str(error.value).startswith(
        "--decoder: lattice-k1 does not decode transformer: take one of greedy, "
    )
    assert selection.decoder(None).row == selection.configuration.decoders["greedy"]
    with pytest.raises(UserError, match="the run has none for lattice: name one of lattice-k64, "):
        model = replace(selection.models[0], system="lattice")
        replace(selection, system="lattice", models=[model]).decoder(None)
    monkeypatch.setattr(LatticeDecoder, "families", ("autoregressive",))
    assert selection.decoder("lattice-k1").family == "lattice"
