"""The page of the papers' claims: of each, in which kept runs it holds and in which it does not."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fastdecode.config.papers import Paper
from fastdecode.report.by_paper import NOTHING, by_paper, line, link
from fastdecode.report.claims.judge import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.kept import Kept, kept_verdicts

MEASUREMENTS = "measurements"
HEAD = """# Which claims hold

Written by `make generated` from `config/papers/` and the verdicts in `docs/measurements/`: every
claim of the four papers that numbers can tell, and the folders whose run says that it holds, does
not hold, or cannot be told though some of it was measured. What a paper says with a number, such as
"about three times faster", is read as its direction, and stands below it where that is not plain.

A claim holds in a run if the whole 95% interval of every condition is within its bounds (or the
number itself where other lines or repeats would not change it, such as a count), and does not hold
if one is outside: the folder's table of verdicts, which is linked, has the numbers. Times are of
the reference tier, which is what the papers timed; of several data the worst verdict counts. All
data are small. Verdicts before a claim's present reading, by other conditions, or by a number
without an interval that other lines would move, are left out.

- Behind a folder, † says that times among its numbers drifted between repeats, ‡ that they are of
  random weights.
- A condition is judged in each table of a claim that a run has.
- `families/` are runs of all papers, other folders of one. Some share trainings, as `dag/toy` and
  `dag/seeds` share seed 1: two folders are not always two trials. Some claims are parts of others,
  as *order-of-decoders* is of *decoding-order*.
- The default run is not among them: its models are not done learning.
- Systems are as they were when a folder was written ([what has
  changed](measurements/README.md#before-you-compare-pages)).
"""


def wanted(root: Path) -> dict[Path, str]:
    """Return the page of the project in `root`, with what it should hold."""
    return {root / "docs/claims.md": by_paper(root, HEAD, _table)}


def _table(key: str, paper: Paper, docs: Path) -> Iterator[str]:
    """Yield the lines of a paper's table: a claim each."""
    files = sorted((docs / MEASUREMENTS).rglob(f"claims.{key}.csv"))
    kept = {csv: kept_verdicts(paper, csv) for csv in files}
    yield _summary(paper, kept.values()) + "\n"
    yield line("claim", HOLDS, FAILS, UNKNOWN)
    yield "|---|---|---|---|"
    for name, claim in paper.claims.items():
        said = f"*{name}*: {claim.statement}"
        if claim.reading:
            said += f"<br>Read as: {claim.reading}"
        if claim.unchecked:
            yield line(said, NOTHING, NOTHING, claim.unchecked)
            continue
        told = [(csv, found[name]) for csv, found in kept.items() if name in found]
        each = (_folders(verdict, told, docs) for verdict in (HOLDS, FAILS, UNKNOWN))
        yield line(said, *each)


def _summary(paper: Paper, runs: Iterable[Mapping[str, Kept]]) -> str:
    """Return how many claims hold in all runs that can tell, in none of them, and in some."""
    told = [
        {found[name].verdict for found in runs if name in found} & {HOLDS, FAILS}
        for name in paper.claims
    ]
    only, never, both = (told.count(these) for these in ({HOLDS}, {FAILS}, {HOLDS, FAILS}))
    return (
        f"{len(told)} claims: {only} hold in every run that can tell, {never} in none of them, "
        f"{both} in some; of {told.count(set())} no run can tell."
    )


def _folders(verdict: str, told: list[tuple[Path, Kept]], docs: Path) -> str:
    """Return the folders whose runs say so and measured some of it, linked to their verdicts."""
    links = [
        link(str(csv.parent.relative_to(docs / MEASUREMENTS)), csv.with_suffix(".md"), docs)
        + kept.marks
        for csv, kept in told
        if kept.verdict == verdict and (kept.measured or verdict != UNKNOWN)
    ]
    return ", ".join(links) or NOTHING
