"""Measure the memory that each decoder takes: see fastdecode.measure.memory."""

from pathlib import Path

from fastdecode.config.run import Latency
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_json
from fastdecode.measure.memory import measure_memory
from fastdecode.measure.timing import Bench, Entry
from fastdecode.provenance import provenance
from fastdecode.text import Text

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
with clear_errors(), own_devices(params.device, snakemake.resources.gpu):
    bench = Bench(
        data=Path(files.data),
        text=Text(**params.text, codes=Path(files.codes).parent),
        lines=list(read_lines(Path(files.lines))),
        device=params.device,
        precision=params.precision,
        settings=Latency.model_validate(params.latency),
    )
    origin = provenance(
        dataset=names.dataset,
        system=None,
        decoder=None,
        seed=None,
        device=params.device,
        split=names.split,
        threads=1,
    )
    rows = measure_memory([Entry(**entry) for entry in params.entries], bench)
    write_json(Path(snakemake.output[0]), {"provenance": origin, "rows": rows})
