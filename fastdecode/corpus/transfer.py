"""A file of the network, with patience: tries again, and goes on where a connection broke off."""

import http.client
import math
import os
import ssl
import time
import urllib.error
import urllib.request
from typing import IO

from fastdecode.errors import UserError
from fastdecode.progress import say, track

TRIES = 5
FIRST_WAIT = 1.0  # seconds before the second try; doubled before each further one
TIMEOUT = 60.0  # seconds without a byte
MEGABYTE = 1_000_000
PASSING = (408, 416, 429)  # of the 4xx answers, those that another try may mend

NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)


def receive(key: str, size: int | None, url: str, received: IO[bytes], elsewhere: str) -> None:
    """Append to `received` what it lacks of the file at `url`, in up to TRIES tries.

    `key` names the file in what is said, `size` is that of the whole, if it is known, and
    `elsewhere` says what a user can do who does not get it here.

    Raises UserError after the last try, or at once on an answer that will not change.
    """
    wait = FIRST_WAIT
    for attempt in range(1, TRIES + 1):
        try:
            _try_to_receive(key, size, url, received, elsewhere)
            return
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
            if error.code == 416:  # what we have is no beginning of that file
                received.truncate(0)
            if error.code < 500 and error.code not in PASSING:
                raise UserError(f"{key}: {url} answers {reason}: {elsewhere}") from None
        except NETWORK_ERRORS as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        say(key, f"try {attempt} of {TRIES} failed: {reason}")
        if attempt < TRIES:
            time.sleep(wait)
            wait *= 2
    raise UserError(
        f"{key}: {url} could not be fetched in {TRIES} tries ({reason}): run again when it can be "
        f"reached, or {elsewhere}"
    )


def _try_to_receive(
    key: str, size: int | None, url: str, received: IO[bytes], elsewhere: str
) -> None:
    """Append what is missing to `received`; raise one of NETWORK_ERRORS if it breaks off."""
    have = received.seek(0, os.SEEK_END)
    if have == size:
        return
    if size is not None and have > size:
        have = received.truncate(0)
    headers = {"User-Agent": "fastdecode", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        if response.headers.get_content_type() == "text/html":
            raise UserError(f"{key}: {url} answers with a web page, not the file: {elsewhere}")
        if have and response.status != http.HTTPStatus.PARTIAL_CONTENT:
            say(key, "the server sends the whole file again")
            have = received.truncate(0)
        elif have:
            say(key, f"going on after {have / MEGABYTE:,.1f} MB")
        length = response.headers["Content-Length"]
        end = have + int(length) if length else size
        megabytes = math.ceil((end - have) / MEGABYTE) if end else None
        chunks = iter(lambda: response.read(MEGABYTE), b"")
        for chunk in track(chunks, key, "MB", total=megabytes):
            have += received.write(chunk)
        received.flush()
    if end is not None and have < end:
        raise ConnectionError(f"the connection broke off after {have:,} of {end:,} bytes")
