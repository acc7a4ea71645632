"""How this family drafts."""

from collections.abc import Mapping
from typing import Any

from fastdecode.drafting import Drafter
from fastdecode.families.aggressive.eager import EagerDrafter
from fastdecode.families.aggressive.fast import FastDrafter
from fastdecode.system import System

OWN = {"engine", "encoders", "min_len"}


def build_drafter(system: System, settings: Mapping[str, Any]) -> Drafter:
    """Return the drafter in `system`; `settings` are OWN keys of a decoder row.

    Raises UserError if it is none.
    """
    kind = FastDrafter if settings["engine"] == "fastdecode" else EagerDrafter
    return kind(system, settings["encoders"] == "shared", settings["min_len"])
