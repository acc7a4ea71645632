"""What is on record of several models at once."""

import json
from pathlib import Path
from typing import Any

from fastdecode.train.ensemble import record_ensemble


def recorded(folder: Path, *members: dict[str, Any]) -> Any:
    paths = []
    for seed, member in enumerate(members, start=1):
        (folder / f"seed{seed}").mkdir(exist_ok=True)
        paths.append(folder / f"seed{seed}/train.json")
        shape = {"family": "autoregressive", "layers": "6-6", "epochs": 3}
        origin = {"device": "A100", "commit": f"c{seed}"}
        paths[-1].write_text(json.dumps({"provenance": origin} | shape | member))
    record_ensemble(paths, folder / "train.json", {"system": "three", "commit": "c3"})
    return json.loads((folder / "train.json").read_text())


def test_sums_of_what_is_known_of_all(tmp_path: Path) -> None:
    one = {"parameters": 10, "updates": 5, "seconds": 2.0}
    found = recorded(tmp_path, one, one | {"updates": 7})
    assert (found["family"], found["layers"]) == ("autoregressive", "6-6")
    assert [found[key] for key in ("parameters", "updates", "seconds")] == [20, 12, 4.0]
    assert found["epochs"] is None
    assert found["members"] == [str(tmp_path / f"seed{seed}") for seed in (1, 2)]
    assert found["provenance"] == {"system": "three", "device": "A100", "commit": "c1 c2"}
    assert recorded(tmp_path, one, one | {"seconds": None})["seconds"] is None
