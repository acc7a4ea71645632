"""The command line as such: its help, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from fastdecode.commands import COMMANDS, main
from tests.commands.conftest import ROOT

INTERRUPTED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException as error:
    print("went on after", type(error).__name__)
"""


def test_help_and_version_are_quick() -> None:
    for arguments, text in (
        (["--version"], "fastdecode 0."),
        (["--help"], "translate lines with a trained system"),
        (["translate", "--help"], "examples:"),
        (["export", "--help"], "example:"),
        (["compare", "--help"], "--reference"),
        (["benchmark", "--help"], "--decoders"),
        (["plan", "--help"], "--device"),
        (["redraw", "--help"], "--only"),
    ):
        command = [sys.executable, "-X", "importtime", "-m", "fastdecode", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert text in done.stdout
        assert not {"torch", "fairseq"} & {
            line.rpartition("|")[2].strip() for line in done.stderr.splitlines()
        }


def test_a_wrong_command_is_told_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ([], ["translat"], ["--translate"]):
        with pytest.raises(SystemExit) as error:
            main(wrong)
        assert error.value.code == 2
        said = capsys.readouterr().err
        assert "COMMAND" in said
        assert wrong != ["translat"] or all(name in said for name in COMMANDS)


def test_what_a_command_does_not_know_is_told_with_its_usage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = ": a run is named by --configfile, before each of its files"
    for wrong, hint in (["more"], ""), (["mine/run.yaml"], named):
        with pytest.raises(SystemExit) as error:
            main(["plan", *wrong])
        assert error.value.code == 2
        said = capsys.readouterr().err
        assert said.startswith("usage: fastdecode plan ")
        assert said.endswith(f"error: unrecognized arguments: {wrong[0]}{hint}\n")
    with pytest.raises(SystemExit):
        main(["--wrong", "plan"])


@pytest.mark.parametrize(("call", "said"), [("import inner", ""), (INTERRUPTED, "KeyboardInterr")])
def test_ctrl_c_while_something_is_imported_ends_at_once(
    tmp_path: Path, call: str, said: str
) -> None:
    """An exception would pass through PyTorch's C++ there, which aborts."""
    (tmp_path / "inner.py").write_text(INTERRUPTED)
    code = f"import fastdecode.commands as c, signal\nsignal.signal(2, c._interrupt)\n{call}"
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stdout) == (0 if said else 130, True)
    assert bool(done.stdout) == bool(said)
