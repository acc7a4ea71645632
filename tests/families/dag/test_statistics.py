"""Statistics of graphs against enumeration of their paths."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.families.dag.paths import best_path, token_scores
from fastdecode.families.dag.statistics import (
    accuracy,
    best_assignment_accuracy,
    main_edges,
    out_degrees,
    passing,
    path_counts,
    samples,
    token_probabilities,
)
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.statistic import Readable, Split
from tests.families.dag.conftest import (
    every_path,
    path_scores,
    random_links,
    random_target,
    untrained_graphs,
)

SIZES = [6, 4, 3]
seeds = st.integers(0, 10_000)


def links_of(seed: int) -> torch.Tensor:
    return random_links(torch.tensor(SIZES), torch.Generator().manual_seed(seed))


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_passing_probabilities_are_sums_over_paths(seed: int) -> None:
    links = links_of(seed)
    found = passing(links, torch.tensor(SIZES))
    for b, size in enumerate(SIZES):
        expected = torch.zeros(6).double()
        for length in range(2, size + 1):
            for path in every_path(length, size):
                chance = sum(links[b, u, v] for u, v in pairwise(path))
                expected[list(path)] += torch.as_tensor(chance).exp()
        assert torch.allclose(found[b], expected)
        assert found[b, [0, size - 1]].tolist() == pytest.approx([1.0, 1.0])


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_path_counts_are_numbers_of_paths(seed: int) -> None:
    edges = main_edges(links_of(seed), 0.7)
    found = path_counts(edges, torch.tensor(SIZES))
    for b, size in enumerate(SIZES):
        expected = [0] * 6
        for length in range(2, size + 1):
            for path in every_path(length, size):
                if all(edges[b, u, v] for u, v in pairwise(path)):
                    for u in path:
                        expected[u] += 1
        assert found[b].tolist() == expected


def test_main_edges_are_the_fewest_with_their_share() -> None:
    links = torch.tensor([[[0, 0.5, 0.3, 0.2], [0, 0, 0.9, 0.1], [0, 0, 0, 1], [0.0] * 4]]).log()
    assert main_edges(links, 0.75).int().tolist() == [
        [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    ]
    assert main_edges(links, 0.9).int().tolist()[0][0] == [0, 1, 1, 1]


def test_out_degrees_count_equal_tokens_once() -> None:
    links = torch.tensor([[[0, 0.5, 0.3, 0.2], [0, 0, 0.5, 0.5], [0, 0, 0, 1], [0.0] * 4]]).log()
    assert out_degrees(links, torch.tensor([[0, 7, 8, 2]]), 0.95).tolist() == [[3, 2, 1, 0]]
    assert out_degrees(links, torch.tensor([[0, 7, 7, 2]]), 0.95).tolist() == [[2, 2, 1, 0]]


def test_an_edge_counts_though_one_that_does_not_has_its_token() -> None:
    links = torch.tensor([[[0, 0.1, 0.9], [0, 0, 1], [0.0] * 3]]).log()
    assert out_degrees(links, torch.tensor([[0, 7, 7]]), 0.8).tolist() == [[1, 1, 0]]


def test_token_probabilities_are_those_of_the_likeliest() -> None:
    logits = torch.tensor([[[2.0, 0.0], [0.0, 0.0], [0.0, 1.0]]])
    found = token_probabilities(logits, torch.tensor([2]))
    assert torch.allclose(found, torch.tensor([[0.8808, 0.5, 0.0]]), atol=1e-4)


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


def test_the_accuracy_of_a_system_is_that_of_its_lines(ragged: list[list[str]]) -> None:
    system = untrained_graphs()
    (model,) = system.models
    written = system.decoder("dag", {"search": "lookahead"}, " ".join)(ragged[:-1])
    references = [["w1", *translation.tokens[1:]] for translation in written]
    references.append(["w1"] * 30)  # longer than its graph: it has no path
    right = total = 0
    for source, reference in zip(ragged[:-1], references, strict=False):
        framed = frame_sources([source], system.source)
        targets = frame_sources([reference], system.target)
        lengths, counts = (torch.tensor([t.shape[1]]) for t in (framed, targets))
        sizes = model.decoder.sizes(lengths)
        with torch.inference_mode():
            encoded = model.encoder(framed, src_lengths=lengths)
            logits, links = model.decoder(blank_slots(sizes, system.target), encoded, sizes)
        path = best_path(token_scores(logits, targets), links, counts, sizes)[0]
        said = logits[0, path].argmax(-1)[1:-1]
        right += int((said == targets[0, 1:-1]).sum())
        total += len(reference)
    found = accuracy(system, Split(ragged, {"real": references}))
    assert (found["tokens"], found["left_out"]) == (total, 1)
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
