import logging
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.bpe import learn
from fastdecode.decode import batches, decode_all, distill_shard, load_system, translate_lines
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.text import Text
from fastdecode.transformer.weights import Layers
from fastdecode.translation import Translation
from tests.gpu import needs_no_gpu

words = st.lists(st.sampled_from("abc"), max_size=9)
LENGTH_LIMIT = {"beam": 2, "max_len_a": 0, "max_len_b": 7}  # the same in any batch


@pytest.fixture(scope="module")
def system(trained: Path, binarised: Path) -> System:
    return load_system([trained / "checkpoint.pt"], binarised, "cpu")


class Backwards:
    """A decoder that turns sentences round and remembers its batches."""

    bytes_per_pass, serial_layers = 0, Layers(0, 0)

    def __init__(self) -> None:
        self.batches: list[list[list[str]]] = []

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Translation]:
        self.batches.append([list(sentence) for sentence in sentences])
        turned = [list(reversed(sentence)) for sentence in sentences]
        return [Translation(" ".join(tokens), tokens, 0.5, len(tokens)) for tokens in turned]


# Batches


@given(sentences=st.lists(words, max_size=30), most=st.integers(1, 40))
def test_batches_are_a_partition_within_the_limit(sentences: list[list[str]], most: int) -> None:
    groups = batches(sentences, most)
    assert sorted(i for group in groups for i in group) == list(range(len(sentences)))
    assert all(groups)
    lengths = [len(sentences[i]) for group in groups for i in group]
    assert lengths == sorted(lengths, reverse=True)
    for group in groups:
        width = max(len(sentences[i]) for i in group) + 1  # with </s>
        assert len(group) * width <= most or len(group) == 1
    for group, _ in pairwise(groups):  # none is split needlessly
        assert (len(group) + 1) * (len(sentences[group[0]]) + 1) > most
    assert groups == batches(sentences, most)


def test_equally_long_sentences_keep_their_order() -> None:
    assert batches(["ab", "cd", "efg", "hi", "j"], 6) == [[2], [0, 1], [3, 4]]
    assert batches([], 6) == []


@given(sentences=st.lists(words, max_size=20), most=st.integers(1, 40))
def test_translations_come_in_the_order_of_the_sentences(
    sentences: list[list[str]], most: int
) -> None:
    decoder = Backwards()
    translations = decode_all(decoder, sentences, most, "x", 99)
    assert [t.tokens for t in translations] == [sentence[::-1] for sentence in sentences]
    assert [t.passes for t in translations] == [len(sentence) for sentence in sentences]
    for sentence, translation in zip(sentences, translations, strict=True):
        if not sentence:  # which the decoder never sees
            assert translation == Translation("", [], None, 0)
    assert all(all(batch) for batch in decoder.batches)


class Forgetful(Backwards):
    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Translation]:
        return []


def test_a_decoder_that_loses_a_sentence_is_found_out() -> None:
    with pytest.raises(ValueError, match="shorter"):
        decode_all(Forgetful(), [["a"]], 10, "x", 99)


def test_a_sentence_too_long_for_the_model_is_left_out_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    decoder = Backwards()
    sentences = [["a", "b"], ["a"] * 4, ["c"] * 3, []]
    translations = decode_all(decoder, sentences, 99, "x", longest=3)
    assert [t.tokens for t in translations] == [["b", "a"], [], ["c"] * 3, []]
    (line,) = capsys.readouterr().err.splitlines()
    assert "line 2: 4 tokens, and the model reads at most 3" in line
    decode_all(decoder, sentences, 99, "x", longest=3, first_line=9)
    assert "line 10: 4 tokens" in capsys.readouterr().err


def test_raw_lines_go_all_the_way(tmp_path: Path) -> None:
    write_lines(tmp_path / "text", ["a house ."] * 3)
    learn([tmp_path / "text"], 9, tmp_path / "codes.source")
    text = Text("en", "de", lowercase=True, pretokenised=False, codes=tmp_path)
    decoder = Backwards()
    translate = translate_lines(decoder, text, Stopwatch())
    (one,) = translate(["A house."])
    assert one.tokens == [".", "house", "a"]
    assert list(one.stages) == ["preprocess"] and one.stages["preprocess"] > 0
    assert [t.tokens for t in translate(["  "])] == [[]]
    assert decoder.batches == [[["a", "house", "."]]]  # a blank line is not decoded
    assert [t.tokens for t in translate(["a", "", "house"])] == [["a"], [], ["house"]]


# Systems


def test_a_system_has_its_dictionaries_and_is_ready_to_decode(system: System) -> None:
    assert system.source.index("seven") != system.source.unk()
    assert system.target.index("fünf") != system.target.unk()
    assert [model.training for model in system.models] == [False]


def test_what_fairseq_tells_of_a_model_is_not_said(
    trained: Path, binarised: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("fairseq").setLevel(logging.INFO)  # as where fairseq was there before us
    load_system([trained / "checkpoint.pt"], binarised, "cpu")
    assert not caplog.records


def test_a_missing_or_damaged_checkpoint_is_named(
    trained: Path, binarised: Path, tmp_path: Path
) -> None:
    good, half = trained / "checkpoint.pt", tmp_path / "half.pt"
    half.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    for path, message in (
        (half, "the checkpoint is truncated or damaged: delete it and run again"),
        (tmp_path / "missing.pt", "no such checkpoint: train it first"),
    ):
        with pytest.raises(UserError) as error:
            load_system([good, path], binarised, "cpu")
        assert str(error.value) == f"{path}: {message}"


def test_a_damaged_dictionary_is_named(trained: Path, binarised: Path, tmp_path: Path) -> None:
    shutil.copytree(binarised, tmp_path, dirs_exist_ok=True)
    (tmp_path / "dict.de.txt").write_text("fine 3\nS@@ ")
    with pytest.raises(UserError, match=f"^{tmp_path}: .*: delete that folder and run again"):
        load_system([trained / "checkpoint.pt"], tmp_path, "cpu")
    (tmp_path / "dict.de.txt").unlink()
    said = r"dict\.de\.txt: no such dictionary: delete .* and run again"
    with pytest.raises(UserError, match=said):
        load_system([trained / "checkpoint.pt"], tmp_path, "cpu")


@needs_no_gpu
def test_a_missing_gpu_is_said(trained: Path, binarised: Path) -> None:
    with pytest.raises(UserError, match="this machine shows no GPU"):
        load_system([trained / "checkpoint.pt"], binarised, "cuda")


# Distillation


def test_distilled_shards_are_the_translations_of_the_whole(system: System, tmp_path: Path) -> None:
    lines = ["one two", "", "seven", "three four five nine nine", "unheard eight", "two"]
    write_lines(tmp_path / "source.gz", lines)
    decoder = system.decoder("autoregressive", LENGTH_LIMIT, finish=" ".join)
    for shard in range(4):
        distill_shard(
            system,
            decoder,
            tmp_path / "source.gz",
            shard,
            4,
            tmp_path / f"{shard}.gz",
            "x",
        )
    distilled = [line for shard in range(4) for line in read_lines(tmp_path / f"{shard}.gz")]
    whole = decode_all(decoder, [line.split() for line in lines], 100, "x", 99)
    assert distilled == [" ".join(translation.tokens) for translation in whole]
    assert [bool(line) for line in distilled] == [bool(line) for line in lines]
