"""The state of every table, figure and claim: what is kept for it in `docs/measurements`."""

from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from fastdecode.config.papers import Artifact, Paper
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.by_paper import NOTHING, by_paper, line, link
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.kept import kept_verdicts
from fastdecode.report.counted import counted

LEVELS = {  # a column, and the folders of which it has what tells most
    "toy": ["toy"],
    "toy, three seeds": ["seeds", "seeds-sizes"],
    "toy, sizes on raw targets, three seeds": [
        "raw-sizes",
        "raw-sizes/size12",
        "raw-sizes/size16",
        "raw-sizes/slots12",
        "raw-sizes/slots16",
    ],
    "toy, objectives, three seeds": ["objectives"],
    "toy, objectives, one seed": ["objectives/one-seed"],
    "toy, distilled": ["distilled"],
    "toy, distilled, three seeds": ["distilled/seeds"],
    "toy, α and γ tuned": ["tuned"],
    "toy, on a GPU": ["toy-gpu"],
    "Multi30k": ["multi30k"],
    "news": ["news"],
    "Multi30k, three seeds": ["multi30k-seeds"],
    "Multi30k, seed 1, timed": ["multi30k-seeds/seed1"],
    "Multi30k, on a GPU": ["gpu"],
    "Multi30k, sizes and objectives": ["gpu/figures"],
}
ALL = "families"  # the folder of runs of all papers: what they have stands where it is more
HEAD = """# What is reproduced

Written by `make generated` from `config/papers/` and the files in `docs/measurements/`: how many
rows of every table and figure have a number of ours, of those that can have one, on each of our
data: *all*, some (*4 of 10*) or none (–). Rows that a paper reprints from others cannot, unless the
system is here, too. One number is enough, be it without its times. Rows of a figure are its points
or curves; a drawing is there or not. The order is that of the papers. Tables of several corpora,
such as the lattice's 4 to 7 and 9, have the same numbers of ours beside each: those of our corpus.

The last line of a table is of the paper's claims: how many hold, do not hold, and cannot be told
though some of it was measured, where they are about times in the tier that is nearer to what the
papers timed, mostly the reference tier. [Which ones, and how each is read](claims.md). A claim that
was judged before its present reading, by other conditions, in other tiers alone, or by a number
without an interval that other lines would move, is not among them.

A column is a folder of `docs/measurements/<paper>/`, or the one with the most numbers of several;
the page there says which run wrote it. Where a run of all families has more of an artifact than
that folder, or tells more claims, or there is no such folder, what is of
`docs/measurements/families/` stands here: the link says so, and its models need not be those of the
column.

Systems are as they were when a folder was written ([what has
changed](measurements/README.md#before-you-compare-pages)).

At the papers' scale nothing was trained yet: that takes their corpora and GPUs, and `config/runs/`
has the runs (`.venv/bin/fastdecode plan --configfile config/runs/dag.yaml --device h100`). What
decoding takes at their size was timed on a GPU, [on random
weights](measurements/benchmark/gpu/README.md).
"""


def wanted(root: Path) -> dict[Path, str]:
    """Return the page of the project in `root`, with what it should hold."""
    return {root / "docs/reproduced.md": by_paper(root, HEAD, _table)}


def _table(key: str, paper: Paper, docs: Path) -> Iterator[str]:
    """Yield the lines of a paper's table: an artifact each, and one of its claims."""
    folders = {
        column: [docs / f"measurements/{of}/{name}" for name in names for of in (key, ALL)]
        for column, names in LEVELS.items()
    }
    kept = {
        column: of
        for column, of in folders.items()
        if any(any(folder.glob(f"{key}.*.csv")) for folder in of)
    }
    yield line("artifact", "shows", *kept)
    yield "|---|---|" + "---:|" * len(kept)
    for name, artifact in paper.artifacts.items():
        files = ([folder / f"{key}.{name}.csv" for folder in of] for of in kept.values())
        states = ([_state(artifact, csv, docs) for csv in each if csv.exists()] for each in files)
        yield line(name, artifact.title, *map(_most, states))
    judged = ([folder / f"claims.{key}.csv" for folder in of] for of in kept.values())
    tallies = ([_tally(paper, csv, docs) for csv in files if csv.exists()] for files in judged)
    texts = map(_most, tallies)
    yield line("claims", "hold, do not hold, cannot be told", *texts)


def _most(found: list[tuple[int, str]]) -> str:
    """Return the text of what tells most, of equals the first."""
    return max(found, key=itemgetter(0), default=(0, NOTHING))[1]


def _state(artifact: Artifact, csv: Path, docs: Path) -> tuple[int, str]:
    """Return how many numbers of ours a kept artifact has; and how much that is, linked to it."""
    frame = (CELLS if artifact.kind == "table" else POINTS).read(csv)
    found, whole = counted(artifact, frame[frame["source"] == OURS])
    if not found:
        return 0, NOTHING
    looks = csv.with_suffix(".md" if artifact.kind == "table" else ".svg")
    return found, link("all" if found == whole else f"{found} of {whole}", looks, docs)


def _tally(paper: Paper, csv: Path, docs: Path) -> tuple[int, str]:
    """Return how many claims of a run can be told; and the tally of what it measured, linked."""
    found = kept_verdicts(paper, csv).values()
    verdicts = [kept.verdict for kept in found if kept.measured or kept.verdict != UNKNOWN]
    counts = [verdicts.count(verdict) for verdict in (HOLDS, FAILS, UNKNOWN)]
    text = link(", ".join(map(str, counts)), csv.with_suffix(".md"), docs)
    return len(verdicts) - verdicts.count(UNKNOWN), text
