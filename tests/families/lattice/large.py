"""How long the tables of a large corpus take, and how much memory: a measurement, not a test.

    python -m tests.families.lattice.large FOLDER [PAIRS]

writes a word-aligned corpus (4.5 million pairs by default, 3 GB) to FOLDER, counts it, prints
what it took, and deletes FOLDER.
"""

import json
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from fastdecode.families.lattice.tables import build
from fastdecode.files import open_to_write
from fastdecode.progress import track

NAMES = ("source.gz", "target.gz", "links.gz", "dict.source.txt", "dict.target.txt")
WIDEST = 100  # tokens of the longest line
BLOCK = 20_000  # pairs written at a time


def write_corpus(folder: Path, pairs: int, words: int = 40_000, seed: int = 1) -> list[Path]:
    """Write a word-aligned corpus of about 25 tokens a line; return its files, named as in NAMES.

    Words are as frequent as Zipf has it. A target word is one of many translations of its source
    word, of falling probability, or, one time in ten, any word. Links lie around the diagonal; some
    target words have two, some none.
    """
    draw = np.random.default_rng(seed)
    paths = [folder / name for name in NAMES]
    shares = np.cumsum(1 / (np.arange(words) + 3))
    names = np.array([f"w{word:x}" for word in range(words)], object)
    links = np.array([f"{i}-{j}" for i in range(WIDEST) for j in range(WIDEST)], object)

    def any_words(count: int) -> np.ndarray:
        return np.searchsorted(shares, draw.random(count) * shares[-1]).clip(max=words - 1)

    for path in paths[3:]:
        with open_to_write(path) as file:
            file.writelines(f"{name} 1\n" for name in names)
    blocks = range(0, pairs, BLOCK)
    with (
        open_to_write(paths[0]) as source,
        open_to_write(paths[1]) as target,
        open_to_write(paths[2]) as linked,
    ):
        for first in track(blocks, "corpus", f"times {BLOCK:,} pairs", total=len(blocks)):
            size = min(BLOCK, pairs - first)
            s = np.clip(draw.gamma(4, 25 / 4, size), 1, WIDEST).astype(int)
            t = np.clip(s * 0.98 + 0.9 + draw.normal(0, 2.5, size), 1, WIDEST).astype(int)
            x = any_words(int(s.sum()))
            line, j = np.repeat(np.arange(size), t), np.concatenate([np.arange(n) for n in t])
            i = np.rint(j * s[line] / t[line] + draw.normal(0, 2, len(j))).astype(int)
            i = np.clip(i, 0, s[line] - 1)
            y = (x[(np.cumsum(s) - s)[line] + i] * 7 + draw.geometric(0.2, len(j)) ** 2) % words
            y = np.where(draw.random(len(j)) < 0.1, any_words(len(j)), y)
            with_link = draw.random(len(j)) < 0.95
            second = with_link & (i + 1 < s[line]) & (draw.random(len(j)) < 0.15)
            cells = np.concatenate([i[with_link], i[second] + 1]) * WIDEST
            cells += np.concatenate([j[with_link], j[second]])
            lines = np.concatenate([line[with_link], line[second]])
            order = np.lexsort((cells, lines))
            number = np.bincount(lines, minlength=size)
            sides = (
                (source, names[x], s),
                (target, names[y], t),
                (linked, links[cells[order]], number),
            )
            for file, tokens, lengths in sides:
                tokens = tokens.tolist()
                ends = np.cumsum(lengths).tolist()
                starts = [0, *ends[:-1]]
                file.writelines(
                    " ".join(tokens[a:b]) + "\n" for a, b in zip(starts, ends, strict=True)
                )
    return paths


def measure(folder: Path, pairs: int) -> None:
    """Write a corpus, count it, print what that took, delete it."""
    try:
        source, target, links, *dictionaries = write_corpus(folder, pairs)
        size = sum(path.stat().st_size for path in (source, target, links))
        before, start = time.process_time(), time.monotonic()
        build(source, target, links, (dictionaries[0], dictionaries[1]), folder / "lattice", {})
        tables = folder / "lattice/tables"
        found = {
            "pairs": pairs,
            "text_gigabytes": size / 1e9,
            "seconds": time.monotonic() - start,
            "cpu_seconds": time.process_time() - before,
            "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            "table_gigabytes": sum(path.stat().st_size for path in tables.iterdir()) / 1e9,
            "header": json.loads((tables / "tables.json").read_text()),
        }
        print(json.dumps(found, indent=2))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4_500_000)
