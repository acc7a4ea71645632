"""Machines that a plan can count with: `config/devices.yaml`."""

from typing import Literal

from pydantic import Field, PositiveFloat

from fastdecode.config.base import Row


class Device(Row):
    """How fast one core or one GPU is."""

    kind: Literal["cpu", "cuda"] = Field(
        description="which `device:` of a run it can be: a core, or a GPU"
    )
    throughput: PositiveFloat = Field(
        description="matrix multiplication in GFLOP/s, dense, in the precision of a training there"
    )
    overhead: PositiveFloat = Field(
        description="seconds that a layer takes in one training update, whatever its size"
    )
    step: PositiveFloat = Field(description="the same in one decoder pass")
