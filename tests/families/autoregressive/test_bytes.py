from pathlib import Path

import pytest

from fastdecode.families.autoregressive import untrained
from fastdecode.families.autoregressive.bytes import bytes_overflow


@pytest.mark.parametrize(
    ("vendor", "flags", "environment", "overflow"),
    [
        ("AuthenticAMD", "avx avx2", {}, True),
        ("AuthenticAMD", "avx avx2", {"CT2_USE_MKL": "1"}, False),
        ("AuthenticAMD", "avx avx2", {"CT2_USE_MKL": "0"}, True),
        ("AuthenticAMD", "avx2 avx512f avx512_vnni", {}, False),
        ("AuthenticAMD", "avx2 avx_vnni", {}, False),
        ("GenuineIntel", "avx avx2", {}, False),  # CTranslate2 takes MKL there
        ("GenuineIntel", "avx avx2", {"CT2_USE_MKL": ""}, False),
        ("GenuineIntel", "avx avx2", {"CT2_USE_MKL": "0"}, True),
    ],
)
def test_products_of_bytes_overflow_without_instructions_for_them(
    tmp_path: Path, vendor: str, flags: str, environment: dict[str, str], overflow: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\nflags\t\t: fpu {flags}\n")
    assert bytes_overflow(cpuinfo, environment) is overflow


def test_other_machines_are_left_alone(tmp_path: Path) -> None:
    assert not bytes_overflow(tmp_path / "none", {})
    (tmp_path / "arm").write_text("processor\t: 0\nFeatures\t: fp asimd\n")
    assert not bytes_overflow(tmp_path / "arm", {})


def test_the_benchmark_leaves_them_out_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(untrained, "bytes_overflow", lambda: True)
    assert "int8-beam5" not in untrained.decoders(5, "cpu")
    assert "int8 is left out: this processor" in capsys.readouterr().err
    assert "int8-beam5" in untrained.decoders(5, "cuda")
    monkeypatch.setattr(untrained, "bytes_overflow", lambda: False)
    assert "int8-beam5" in untrained.decoders(5, "cpu")
