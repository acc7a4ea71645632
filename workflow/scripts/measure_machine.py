"""Measure what the machine can do: see fastdecode.measure.machine."""

from pathlib import Path

from fastdecode.devices import check_device, own_devices
from fastdecode.errors import clear_errors
from fastdecode.files import write_json
from fastdecode.measure.machine import NOTES, measure_machine, threads_of
from fastdecode.provenance import circumstances, provenance

params = snakemake.params
with clear_errors(), own_devices(params.device, snakemake.resources.gpu):
    check_device(params.device)
    origin = provenance(device=params.device, before=circumstances())
    found = measure_machine(params.device, [threads_of(snakemake.wildcards.threads)])
    origin |= {"after": circumstances()}
    write_json(Path(snakemake.output[0]), {"provenance": origin, "notes": NOTES, **found})
