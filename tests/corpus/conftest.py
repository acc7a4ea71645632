import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastdecode.corpus import transfer
from tests.corpus.served import KEY, Server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.release.set()
        running.shutdown()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(transfer.time, "sleep", waited.append)
    return waited


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / KEY


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "downloads.lock"
