"""What fairseq gets from us through `--user-dir`: families register here, and safe loading.

torch.load reads weights only, and refuses classes it does not know. fairseq's checkpoints hold
an argparse.Namespace and NumPy scalars beside the weights; naming them here keeps that check on.
"""

import argparse

import numpy as np
import torch

import fastdecode.train.task  # noqa: F401
from fastdecode.families import register

register()

torch.serialization.add_safe_globals(
    [
        argparse.Namespace,
        np.dtype,
        np.ndarray,
        type(np.dtype(np.int64)),
        type(np.dtype(np.float64)),
        np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
        np._core.multiarray.scalar,  # type: ignore[attr-defined]
    ]
)
