"""What is given is checked before anything is built on it."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from fairseq.models.transformer import TransformerModel

from fastdecode.corpus.tokenise import tokeniser
from fastdecode.errors import UserError
from fastdecode.files import read_lines, sha256, write_lines
from fastdecode.given import take_distilled, take_model, take_translations, write_record
from fastdecode.provenance import provenance
from fastdecode.train.checkpoints import load, save
from fastdecode.translation import Translation, read_translations, write_translations
from tests.conftest import binarise_numbers

GERMAN = tokeniser("de")
HERE = provenance("d", "s", seed=1, device="cpu", target="raw")
NAMES = {"dataset": "d", "system": "s", "decoder": None, "seed": 1, "target": "raw"}
MADE = {key: value for key, value in HERE.items() if key not in NAMES}
OTHER = {
    "device": "A100",
    "commit": "x",
    "packages": {"torch": "2.0"},
    "python": "3.9",
    "platform": "another",
}
UNKNOWN = {"device": "unknown", "commit": "unknown"}  # of what has no record
SHAPE = {"family": "autoregressive", "layers": "1-1"}


def test_a_model_with_its_record(trained: Path, binarised: Path, tmp_path: Path) -> None:
    checkpoint, record = trained / "checkpoint.pt", tmp_path / "theirs.json"
    theirs = json.loads((trained / "train.json").read_text())
    origin = {"dataset": "e", "system": "t", "precision": "fp16", **OTHER}
    record.write_text(json.dumps(theirs | {"provenance": origin}))
    take_model(checkpoint, record, binarised, tmp_path, SHAPE, 16, HERE)
    assert (tmp_path / "checkpoint.pt").read_bytes() == checkpoint.read_bytes()
    ours = json.loads((tmp_path / "train.json").read_text())
    assert ours["trained"] == "elsewhere"
    assert ours["provenance"] == {"precision": "fp16", **OTHER, **NAMES, "given": MADE}
    for key in ("parameters", "updates", "epochs", "seconds"):
        assert ours[key] == theirs[key]


def test_a_checkpoint_alone(trained: Path, binarised: Path, tmp_path: Path) -> None:
    take_model(trained / "checkpoint.pt", None, binarised, tmp_path, SHAPE, 16, HERE)
    ours, theirs = (json.loads((d / "train.json").read_text()) for d in (tmp_path, trained))
    assert (ours["parameters"], ours["updates"]) == (theirs["parameters"], theirs["updates"])
    assert ours["seconds"] is None
    assert len(ours["checkpoint"]["sha256"]) == 64
    assert ours["provenance"] == {**UNKNOWN, **NAMES, "given": MADE}


def test_a_checkpoint_that_does_not_say_its_updates(
    trained: Path, binarised: Path, tmp_path: Path
) -> None:
    state = load(trained / "checkpoint.pt")
    del state["averaged_updates"], state["optimizer_history"]
    state |= {"best_loss": 1.0, "optimizer": None}  # as before fairseq kept a history
    save(state, tmp_path / "published.pt")
    take_model(tmp_path / "published.pt", None, binarised, tmp_path, SHAPE, 16, HERE)
    assert json.loads((tmp_path / "train.json").read_text())["updates"] is None


def test_a_checkpoint_of_an_older_form_is_not_called_damaged(
    trained: Path, binarised: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.pt"
    state = load(trained / "checkpoint.pt")
    torch.save(state, old, _use_new_zipfile_serialization=False)
    with pytest.raises(UserError, match=r"old.pt: no whole checkpoint in the form of PyTorch 1.6"):
        take_model(old, None, binarised, tmp_path / "out", SHAPE, 16, HERE)


def test_the_record_of_translations_alone(tmp_path: Path) -> None:
    write_record(tmp_path / "train.json", SHAPE, HERE, {})
    record = json.loads((tmp_path / "train.json").read_text())
    assert (record["family"], record["parameters"]) == ("autoregressive", None)
    assert record["provenance"] == {**UNKNOWN, **NAMES, "given": MADE}


def test_a_model_of_other_words(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    other = binarise_numbers(tmp_path / "text/bin", seed=2)
    for name in ("dict.en.txt", "dict.de.txt"):  # as if more merges had been learned
        with (other / name).open("a") as file:
            file.write("hundred 1\n")
    with pytest.raises(UserError, match=r"no model for the vocabulary of .*bin"):
        take_model(trained / "checkpoint.pt", None, other, tmp_path / "out", SHAPE, 16, HERE)
    assert not (tmp_path / "out").exists()


def test_a_model_of_another_family_or_size(trained: Path, binarised: Path, tmp_path: Path) -> None:
    checkpoint, out = trained / "checkpoint.pt", tmp_path / "out"
    for shape, width in (({**SHAPE, "layers": "1-2"}, 16), (SHAPE, 32)):
        with pytest.raises(
            UserError, match="a model of 1-1 layers, 16 wide, but the configuration"
        ):
            take_model(checkpoint, None, binarised, out, shape, width, HERE)
    with (  # as a graph's would be
        patch.object(TransformerModel, "__module__", "fastdecode.families.dag.model"),
        pytest.raises(UserError, match="a model of family dag, but autoregressive is wanted"),
    ):
        take_model(checkpoint, None, binarised, out, SHAPE, 16, HERE)
    assert not out.exists()


def test_a_damaged_model(binarised: Path, tmp_path: Path) -> None:
    (tmp_path / "half.pt").write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match=r"half.pt: no whole checkpoint"):
        take_model(tmp_path / "half.pt", None, binarised, tmp_path / "out", SHAPE, 16, HERE)


def test_distilled_text(binarised: Path, tmp_path: Path) -> None:
    source, text, words = tmp_path / "a.gz", tmp_path / "b", binarised / "dict.de.txt"
    out, record = tmp_path / "c.gz", tmp_path / "c.json"
    write_lines(source, ["one two", "three"])
    write_lines(text, ["eins zwei", "drei"])
    take_distilled(text, source, words, out, record, HERE)
    assert list(read_lines(out)) == ["eins zwei", "drei"]
    assert json.loads(record.read_text())["lines"] == 2
    assert json.loads(record.read_text())["provenance"] == {**UNKNOWN, **NAMES, "given": MADE}

    write_lines(text, ["eins zwei"])
    with pytest.raises(UserError, match=r"has 1 lines but .* has 2"):
        take_distilled(text, source, words, tmp_path / "no.gz", record, HERE)
    write_lines(text, ["Eins, zwei", "drei"])
    with pytest.raises(UserError, match="33% of its words are not in"):
        take_distilled(text, source, words, tmp_path / "no.gz", record, HERE)
    assert not (tmp_path / "no.gz").exists()


def test_translations_of_a_run_keep_what_is_known_of_them(tmp_path: Path) -> None:
    source, given, out = tmp_path / "a", tmp_path / "test.greedy.jsonl.gz", tmp_path / "b.jsonl.gz"
    write_lines(source, ["one two"])
    found = [Translation("Eins.", ["eins", "."], -0.5, 3)]
    write_translations(given, {"provenance": {"system": "t", **OTHER}}, ["one two"], found)
    take_translations(given, source, out, HERE, GERMAN)
    header, _, taken = read_translations(out)
    assert taken == found
    taking = header["provenance"].pop("given")
    assert header["provenance"] == {**OTHER, **NAMES}
    assert taking == {"path": str(given), "sha256": sha256(given), **MADE}

    write_lines(source, ["one"])
    with pytest.raises(UserError, match="its sources are not the lines of"):
        take_translations(given, source, out, HERE, GERMAN)


def test_translations_as_text(tmp_path: Path) -> None:
    source, given, out = tmp_path / "a", tmp_path / "test.greedy.txt", tmp_path / "b.jsonl.gz"
    write_lines(source, ["one two", "three"])
    write_lines(given, ["\ufeffEins fu\u0308r zwei.", ""])  # as an editor may save it
    take_translations(given, source, out, HERE, GERMAN)
    _, sources, taken = read_translations(out)
    assert sources == ["one two", "three"]
    assert [one.text for one in taken] == ["Eins für zwei.", ""]
    assert taken[0].tokens == ["Eins", "für", "zwei", "."]

    write_lines(given, ["Eins zwei."])
    with pytest.raises(UserError, match=r"has 1 lines but .* has 2: give a line for each"):
        take_translations(given, source, out, HERE, GERMAN)
