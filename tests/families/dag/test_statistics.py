"""Statistics of graphs against single sentences and enumeration."""

import pytest
import torch

from fastdecode.families import statistics
from fastdecode.families.dag.paths import best_path
from fastdecode.families.dag.shape import out_degrees, passing, token_probabilities
from fastdecode.families.dag.statistics import (
    BINS,
    STATISTICS,
    accuracy,
    right_on_best_path,
    samples,
    vertices,
)
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.statistic import Readable, Split
from fastdecode.scores import token_scores
from fastdecode.system import System
from tests.families.dag.conftest import (
    BOS,
    EOS,
    PAD,
    UNK,
    path_scores,
    random_target,
    untrained_graphs,
)


@pytest.fixture(scope="module")
def system() -> System:
    return untrained_graphs()


def test_the_room_names_its_statistics() -> None:
    assert statistics("dag") == tuple(STATISTICS)


def test_vertices_are_counted_as_in_each_graph_alone(
    system: System, ragged: list[list[str]]
) -> None:
    (model,) = system.models
    found = vertices(system, Split([*ragged, []], {}))
    points, degrees = [], []
    for sentence in ragged:
        source = frame_sources([sentence], system.source)
        sizes = model.decoder.sizes(torch.tensor([source.shape[1]]))
        with torch.inference_mode():
            encoded = model.encoder(source, torch.tensor([source.shape[1]]))
            logits, links = model.decoder(blank_slots(sizes, system.target), encoded, sizes)
        passed = passing(links.double(), sizes)[0].tolist()
        points += zip(passed, token_probabilities(logits, sizes)[0].tolist(), strict=True)
        # As in decoding, only the ends write `<s>` and `</s>`.
        words = logits[0].clone()
        words[:, :UNK] = -torch.inf
        best = words.argmax(-1)
        best[0], best[-1] = 0, EOS
        leaving = out_degrees(links, best[None], 0.8)[0].tolist()
        degrees += [n for n, p in zip(leaving[:-1], passed[:-1], strict=True) if p >= 0.2]
    assert (found["lines"], found["left_out"]) == (len(ragged), 1)
    assert found["vertices"] == len(points)
    groups = {name: group["vertices"] for name, group in found["groups"].items()}
    assert groups == {
        "passed": sum(p > 0.5 for p, _ in points),
        "sure": sum(p < 0.5 < t for p, t in points),
        "vague": sum(p < 0.2 and t < 0.2 for p, t in points),
    }
    assert all(groups.values())
    assert found["out_degrees"] == [degrees.count(n) for n in range(max(degrees) + 1)]
    rows = [sum(row) for row in found["counts"]]
    cells = [min(int(p * BINS), BINS - 1) for p, _ in points]
    assert rows == [cells.count(row) for row in range(BINS)]
    columns = [sum(column) for column in zip(*found["counts"], strict=True)]
    cells = [min(int(t * BINS), BINS - 1) for _, t in points]
    assert columns == [cells.count(column) for column in range(BINS)]


def test_accuracy_is_counted_on_the_best_path_without_the_frame() -> None:
    scores, links, lengths, sizes = random_target(4, tokens=5)
    torch.manual_seed(1)
    targets = torch.randint(0, 2, scores.shape[:2])
    predicted = torch.randint(0, 2, (len(sizes), scores.shape[2]))
    wanted = []
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        every = path_scores(scores[b], links[b], length, size)
        path = max(every, key=lambda path: every[path])
        inner = range(1, length - 1)
        right = sum(bool(predicted[b, path[i]] == targets[b, i]) for i in inner)
        wanted.append((right, len(inner)))
    assert right_on_best_path(scores, links, predicted, targets, lengths, sizes) == wanted


def test_the_accuracy_of_a_system_is_that_of_its_lines(ragged: list[list[str]]) -> None:
    system = untrained_graphs()
    (model,) = system.models
    written = system.decoder("dag", {"search": "lookahead"}, " ".join)(ragged[:-1])
    references = [["w1", *translation.tokens[1:]] for translation in written]
    references.append(["w1"] * 30)  # longer than its graph: it has no path
    of_line = []
    for source, reference in zip(ragged[:-1], references, strict=False):
        framed = frame_sources([source], system.source)
        targets = frame_sources([reference], system.target)
        lengths, counts = (torch.tensor([t.shape[1]]) for t in (framed, targets))
        sizes = model.decoder.sizes(lengths)
        with torch.inference_mode():
            encoded = model.encoder(framed, src_lengths=lengths)
            logits, links = model.decoder(blank_slots(sizes, system.target), encoded, sizes)
        path = best_path(token_scores(logits, targets), links, counts, sizes)[0]
        spoken = logits.clone()
        spoken[..., [BOS, PAD, EOS]] = float("-inf")  # as in no translation
        said = spoken[0, path].argmax(-1)[1:-1]
        of_line.append((int((said == targets[0, 1:-1]).sum()), len(reference)))
    right, total = (sum(column) for column in zip(*of_line, strict=True))
    found = accuracy(system, Split(ragged, {"real": references}))
    assert (found["tokens"], found["left_out"]) == (total, 1)
    assert found["by_line"] == {"": [*of_line, (0, 0)]}
    assert found["accuracy"] == pytest.approx(right / total)
    assert 0 < right < total


def test_samples_are_those_of_the_decoder(ragged: list[list[str]]) -> None:
    system = untrained_graphs()
    asked: list[list[str]] = []

    def finish(tokens: list[str]) -> str:
        asked.append(tokens)
        return " ".join(tokens)

    right = [["w1 w2 w3 w4", "w2 w3 w4 w5"] for _ in ragged]
    text = Readable(right, finish, "en", lowercase=False)
    found = samples(system, Split(ragged, {"real": ragged}, text))
    settings = {"search": "sample", "top_p": 0.8, "temperature": 0.4}
    runs = [
        system.decoder("dag", settings | {"sample_seed": seed}, " ".join)(ragged) for seed in (1, 2)
    ]
    wanted = [one.tokens for several in zip(*runs, strict=True) for one in several]
    assert asked[: len(wanted)] == wanted
    assert found["samples"] == 2 and len(found["points"]) == 4
    spread = [point["pairwise"]["value"] for point in found["points"]]
    assert spread[0] > spread[-1]
