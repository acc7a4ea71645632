"""A server of one file, with faults, and what tests of downloads have in common."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fastdecode.config.corpora import Download

KEY = "wmt/text.bin"
BODY = bytes(range(256)) * 1200  # 307,200 bytes
SHA = hashlib.sha256(BODY).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves BODY; each request takes the next of `faults`, after the last all goes well."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = BODY
        self.faults: list[str | int] = []
        self.ranges: list[str | None] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/text.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        fault = server.faults.pop(0) if server.faults else "none"
        wanted = self.headers["Range"]
        server.ranges.append(wanted)
        if isinstance(fault, int):
            return self.send_error(fault)
        body = server.body
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if wanted and fault != "ignores range":
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            body = body[start:]
        else:
            self.send_response(200)
        kind = "text/html; charset=utf-8" if fault == "web page" else "application/x-gzip"
        self.send_header("Content-Type", kind)
        if fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "cuts":
            body = body[: len(body) // 3]
        if fault == "stalls":
            self.wfile.write(body[: len(body) * 2 // 3])
            server.release.wait(20)
            return None
        self.wfile.write(body)
        return None

    def log_message(self, *args: object) -> None:
        pass


def row(url: str | None, sha256: str | None = SHA, size: int | None = len(BODY)) -> Download:
    return Download(url=url, bytes=size, sha256=sha256, by_hand="ask the owner")


def part_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.part")


def leftovers(out: Path) -> list[str]:
    return [f.name for f in out.parent.iterdir()] if out.parent.exists() else []
