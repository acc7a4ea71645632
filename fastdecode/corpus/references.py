"""Several right translations of the lines of a real corpus: what more people made of its sources.

They stand in a file in the format of Ott et al. (2018, Analyzing Uncertainty in Neural Machine
Translation), who had 500 lines of newstest2014 translated ten times over: `S-7`, a tab and a
source, `T-7` and the corpus's own translation of it, `R1-7`, `R2-7` and so on and the others.
"""

import re
from collections import defaultdict
from pathlib import Path

from fastdecode.corpus.characters import composed
from fastdecode.errors import UserError
from fastdecode.files import read_lines, read_pairs

LINE = re.compile(r"([ST]|R\d+)-(\d+)\t(.+)")
Pair = tuple[str, str]  # source, target


def several_references(extra: Path, source: Path, target: Path) -> list[list[str]]:
    """Return for each line of a split what is in `extra`, without the corpus's own translation.

    `source` and `target` hold the split as it was read. A line that is not in `extra` gets none.

    Raises UserError if `extra` is of another format, or has no line of the split.
    """
    known = _read(extra)
    found = [known.get(pair, []) for pair in read_pairs(source, target)]
    if not any(found):
        raise UserError(f"{extra} has translations of no line of {source}: it is of another split")
    return found


def _read(path: Path) -> dict[Pair, list[str]]:
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for number, line in enumerate(read_lines(path), 1):
        parts = LINE.fullmatch(line)
        if not parts:
            raise UserError(f"{path}, line {number}: begins with no S-1, T-1 or R1-1 and a tab")
        kind, which, text = parts.groups()
        groups[which][kind] = " ".join(composed(text).split())  # as extract.py writes a corpus
    for which, group in groups.items():
        if not {"S", "T"} < set(group):
            raise UserError(f"{path}: of S-{which}, T-{which} and R1-{which} one is missing")
    return {(group.pop("S"), group.pop("T")): list(group.values()) for group in groups.values()}
