"""fairseq is imported without what no translation needs."""

import subprocess
import sys

import pytest

from fastdecode.lean import emptied


def run(*words: str) -> str:
    """What a fresh process prints; on stderr it says nothing."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def test_fairseq_is_imported_alone_and_the_real_modules_are_there_afterwards() -> None:
    code = (
        "import sys, fastdecode, fairseq\n"
        "assert not {'sklearn', 'scipy', 'scipy.stats'} & set(sys.modules)\n"
        "from fairseq.tasks.translation import TranslationTask\n"
        "import scipy.stats\n"
        "print(scipy.stats.pearsonr([1, 2, 3], [2, 4, 6]).statistic)"
    )
    assert float(run("-c", code)) == pytest.approx(1)


def test_modules_are_empty_only_for_a_while_and_only_where_there_are_none() -> None:
    with pytest.raises(KeyError), emptied(("sklearn_of_nobody", "pytest")):
        from sklearn_of_nobody import f1_score  # type: ignore[import-not-found]

        assert f1_score is None
        assert sys.modules["pytest"] is pytest
        assert not hasattr(sys.modules["sklearn_of_nobody"], "__file__")
        raise KeyError
    assert "sklearn_of_nobody" not in sys.modules


def test_fairseqs_programs_know_our_criteria() -> None:
    words = ("train", "--user-dir", "fastdecode", "--help")
    shown = run("-m", "fastdecode.programs", *words)
    assert "fastdecode_dag" in shown  # a criterion
