"""Made-up tables have the shape of real ones."""

from pathlib import Path

import pytest
import torch

from fastdecode.config.models import Architecture
from fastdecode.families.lattice.candidates import Candidates
from fastdecode.families.lattice.counts import OFFSETS
from fastdecode.families.lattice.tables import KEPT, open_tables
from fastdecode.families.lattice.untrained import build, decoders, write_made_up
from fastdecode.families.lattice.vocabulary import SPECIAL
from fastdecode.measure.untrained import Untrained


@pytest.mark.parametrize("size", [100, 3200, 7923])  # the last has 7919 words
def test_every_pair_has_different_words(tmp_path: Path, size: int) -> None:
    words = [*SPECIAL, *(f"w{number}" for number in range(size - len(SPECIAL)))]
    write_made_up(tmp_path / "tables", words, 9)
    tables = open_tables(tmp_path / "tables", words, words)
    assert tables.rows_start.shape == (size, OFFSETS + 1)
    for x in (4, size // 2, size - 1):
        for start in tables.rows_start[x]:
            row = tables.ids[start : start + KEPT]
            assert len(set(row.tolist())) == KEPT
            assert row.min() >= len(SPECIAL) and row.max() < size
            assert tables.probabilities[start : start + KEPT].sum() <= 1 + 1e-6
    assert tables.positions(9, 12).sum(1) == pytest.approx([1] * 12)


def test_a_slot_has_candidates_of_its_own(tmp_path: Path) -> None:
    plan = Untrained(Architecture(8, 12, 2, 1, 1), 3200, 9, "cpu", "fp32", tmp_path)
    system = build(plan)
    assert system.assets is not None
    tables = open_tables(system.assets / "tables", system.source.symbols, system.target.symbols)
    ids, probabilities = Candidates(tables).single(list(range(50, 59)), 12, 64)
    assert probabilities.min() > 0
    assert 64 < len(ids.unique()) < ids.numel()
    for settings in decoders(9, "cpu").values():
        decode = system.decoder("lattice", settings, " ".join)
        with torch.inference_mode():
            (found,) = decode([[f"w{number}" for number in range(9)]])
        assert 6 <= len(found.tokens) <= 12
