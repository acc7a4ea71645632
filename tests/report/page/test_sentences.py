"""Which lines of a test set are shown, and who wrote what of them."""

from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.report.page.sentences import EXAMPLES, alike, chosen, examples
from fastdecode.translation import Translation, write_translations

SLOW, QUICK = "raw/base/beam5", "big/small/beam5"


def test_example_sentences_are_lines_that_differ() -> None:
    references = [" ".join(["w"] * (n + 1)) for n in range(40)]
    one = [f"a{n}" for n in range(40)]
    other = [text if n % 2 else text + "!" for n, text in enumerate(one)]
    lines = chosen([one, other], references)
    assert len(lines) == EXAMPLES and all(line % 2 == 0 for line in lines)
    assert lines == sorted(lines) and lines[0] < 8 and lines[-1] > 32  # short and long ones
    assert len(chosen([one, one], references)) == EXAMPLES
    assert chosen([["a"]], ["b"]) == [0]
    extra = next(line for line in range(40) if line not in lines)
    assert chosen([one, other], references, [extra, lines[1]]) == sorted([*lines, extra])


def test_equal_translations_stand_once_with_all_that_wrote_them() -> None:
    found = alike(["a", "b", "c", "d", "e"], ["yes", "no", "yes", "Yes", "no"])
    assert found == [(["a", "c"], "yes"), (["b", "e"], "no"), (["d"], "Yes")]


def test_examples_of_files(tmp_path: Path) -> None:
    paths = {}
    for name, text in ((SLOW, "yes"), (QUICK, "no")):
        paths[name] = tmp_path / f"{name.replace('/', '.')}.jsonl.gz"
        translation = Translation(text, [text], None, 1)
        write_translations(paths[name], {}, ["ja"], [translation])
    frame = examples("toy", "test", paths, ["yes"])
    assert frame["text"].tolist() == ["yes", "no"]
    assert examples("toy", "test", paths, ["yes"], {1}).equals(frame)
    assert frame[["line", "source", "reference"]].to_numpy().tolist() == [[1, "ja", "yes"]] * 2
    with pytest.raises(UserError, match="of other lines"):
        examples("toy", "test", paths, ["yes", "no"])
