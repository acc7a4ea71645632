"""Whether CTranslate2 multiplies bytes exactly on this processor."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

MKL = "CT2_USE_MKL"  # CTranslate2 reads it once, when it is used first
ADVICE = (
    "this processor has no instructions for products of bytes (VNNI), without which those of "
    "oneDNN overflow and int8 translates wrongly: leave decoders with int8 out, or set "
    f"{MKL}=1, by which CTranslate2 computes with MKL, right, but slower in fp32"
)


def bytes_overflow(
    cpuinfo: Path = Path("/proc/cpuinfo"), environment: Mapping[str, str] = os.environ
) -> bool:
    """Tell whether int8 translates wrongly here: with oneDNN, on an x86 processor without VNNI.

    oneDNN then adds pairs of products in 16 bits, which two of them exceed (its guide, "Nuances of
    int8 computations"). CTranslate2 takes MKL on Intel's processors, unless it is told otherwise.
    """
    if not cpuinfo.is_file():
        return False
    text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    told = environment.get(MKL)
    by_mkl = told in ("1", "true", "TRUE") if told else "GenuineIntel" in text
    if flags is None or by_mkl:
        return False
    return not {"avx512_vnni", "avx_vnni"} & set(flags[1].split())
