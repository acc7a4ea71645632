"""Statistics of graphs against single sentences and enumeration."""

import pytest
import torch

from fastdecode.decode import System
from fastdecode.families import statistics
from fastdecode.families.dag.shape import out_degrees, passing, token_probabilities
from fastdecode.families.dag.statistics import (
    BINS,
    STATISTICS,
    best_assignment_accuracy,
    vertices,
)
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.statistic import Split
from tests.families.dag.conftest import EOS, UNK, path_scores, random_target, untrained_graphs


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
    right = total = 0
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        every = path_scores(scores[b], links[b], length, size)
        path = max(every, key=lambda path: every[path])
        for i in range(1, length - 1):
            right += int(predicted[b, path[i]] == targets[b, i])
            total += 1
    found = best_assignment_accuracy(scores, links, predicted, targets, lengths, sizes)
    assert found == (right, total)
