import json
from pathlib import Path

import ctranslate2
import pytest

from tests.commands.conftest import Call

SYSTEM = ("--system", "raw/transformer", "--out")


def test_the_folder_translates_as_the_system_does(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert call("export", *SYSTEM, str(out)) == ""
    translator = ctranslate2.Translator(str(out), compute_type="float32")
    source = ["one", "seven", "two"]
    (result,) = translator.translate_batch(
        [source], beam_size=1, max_decoding_length=14, suppress_sequences=[["<pad>"]]
    )
    translated = call("translate", *SYSTEM[:2], stdin=b"one seven two\n")
    assert " ".join(result.hypotheses[0]).lower() == translated.strip().lower()


def test_what_it_cannot_export_is_not_asked_to_be_trained(call: Call, tmp_path: Path) -> None:
    run = {
        "systems": ["raw/transformer", "raw/lattice"],
        "decoders": ["beam5", "lattice-k64-candidates"],
    }
    (tmp_path / "run.yaml").write_text(json.dumps(run))
    more = ("--out", str(tmp_path / "model"), "--configfile", str(tmp_path / "run.yaml"))
    with pytest.raises(SystemExit, match="and lattice is of the family lattice: take one of"):
        call("export", "--system", "raw/lattice", *more)


def test_only_a_single_model_and_a_new_folder(call: Call, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="transformer-big-x3 is an ensemble: CTranslate2 decodes"):
        call("export", "--system", "raw/transformer-big-x3", "--out", str(tmp_path / "model"))
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="file exists: choose a folder that does not"):
        call("export", *SYSTEM, str(tmp_path / "file"))
    with pytest.raises(SystemExit, match="file exists"):  # before it is asked to be trained
        call("export", "--system", "transformer-big/transformer", "--out", str(tmp_path / "file"))
    with pytest.raises(SystemExit, match=r"model cannot be made: .*file is a file: choose"):
        call("export", "--system", "transformer-big/transformer", "--out", f"{tmp_path}/file/model")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
