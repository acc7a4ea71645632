"""Statistics as artifacts take them: one seed's of each system, or all; and where they are from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastdecode.report.artifacts.cells import commits_of, devices_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.sources import OURS

Document = Mapping[str, Any]


def documents(evidence: Evidence, dataset: str, statistic: str) -> list[Document]:
    """Return what was measured on a dataset, of every system the first seed."""
    found: dict[str, Document] = {}
    for document in evidence.statistics:
        where = document["provenance"]
        if (where["dataset"], where["statistic"]) == (dataset, statistic):
            found.setdefault(f"{where['target']}/{where['system']}", document)
    return list(found.values())


def firsts(evidence: Evidence, statistic: str) -> Iterator[Document]:
    """Yield what was measured of the first system of every dataset, its first seed."""
    for dataset in evidence.parts:
        yield from documents(evidence, dataset, statistic)[:1]


def of_seeds(origins: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the columns that say where a mean over seeds of a system is from.

    `origins` are the provenances of their statistics; every device and every commit stands once.
    """
    first = origins[0]
    return {
        "what": f"{first['target']}/{first['system']}",
        "split": first["split"],
        "seeds": " ".join(str(origin["seed"]) for origin in origins),
        "device": devices_of(origin["device"] for origin in origins),
        "commit": commits_of(origin["commit"] for origin in origins),
    }


def origin(document: Document, line: int | None = None) -> dict[str, str]:
    """Return the columns of a point that say where it is from.

    `line` is the number, from 0, of the one line that a drawing is of.
    """
    where = document["provenance"]
    same = {key: str(where[key]) for key in ("dataset", "split", "precision", "device", "commit")}
    what = f"{where['target']}/{where['system']}"
    if line is not None:
        same["line"] = str(line + 1)
    return {**same, "source": OURS, "seeds": str(where["seed"]), "what": what}
