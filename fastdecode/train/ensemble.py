"""What is on record of an ensemble: models that were trained one by one and translate together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastdecode.files import read_json, write_json

SHAPE = ("family", "layers", "architecture")
SUMS = ("parameters", "updates", "seconds")  # of all members; null where a member's is not known


def record_ensemble(records: Sequence[Path], out: Path, provenance: dict[str, Any]) -> None:
    """Write the `train.json` of the models that have these `records`.

    All members have one shape. What is summed was measured on the devices, and by the commits, of
    all of them, so all are named. `epochs` is null: each member has its own.
    """
    members = [read_json(path) for path in records]
    shape = {key: members[0].get(key) for key in SHAPE}
    known = {key: [member[key] for member in members] for key in SUMS}
    sums = {key: None if None in values else sum(values) for key, values in known.items()}
    origins = [member["provenance"] for member in members]
    made = {
        "device": " and ".join(dict.fromkeys(origin["device"] for origin in origins)),
        "commit": " ".join(dict.fromkeys(origin["commit"] for origin in origins)),
    }
    folders = [str(path.parent) for path in records]
    more = {"epochs": None, "members": folders}
    write_json(out, {"provenance": provenance | made, **shape, **sums, **more})
