"""Time the decoders of one tier side by side: see fastdecode.measure.timing."""

from pathlib import Path

import torch

from fastdecode.config.run import Latency
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors
from fastdecode.files import read_lines
from fastdecode.measure.machine import bandwidth_of, threads_of
from fastdecode.measure.subwords import lengths_of
from fastdecode.measure.summary import write_latency
from fastdecode.measure.timing import Bench, Entry, time_decoders
from fastdecode.provenance import circumstances, provenance
from fastdecode.text import Text
from fastdecode.transformer.recording import refusals

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
with clear_errors(), own_devices(params.device, snakemake.resources.gpu):
    before = circumstances()
    threads = threads_of(names.threads)
    torch.set_num_threads(threads)
    bandwidth = bandwidth_of(Path(files.machine), threads, params.device)
    bench = Bench(
        data=Path(files.data),
        text=Text(**params.text, codes=Path(files.codes).parent),
        lines=list(read_lines(Path(files.lines))),
        device=params.device,
        precision=params.precision,
        settings=Latency.model_validate(params.latency),
        references=lengths_of(*map(Path, files.references)) if files.references else (),
    )
    origin = provenance(  # of the code as it is now, whatever is committed meanwhile
        dataset=names.dataset,
        system=None,
        decoder=None,
        seed=None,
        device=params.device,
        split=names.split,
        tier=names.tier,
        scenario=names.scenario,
        threads=threads,
        before=before,
    )
    timed = time_decoders([Entry(**entry) for entry in params.entries], bench, names.scenario)
    origin |= {"lines": timed.lines, "after": circumstances(), "not_recorded": refusals()}
    write_latency(
        Path(snakemake.output.summary),
        Path(snakemake.output.samples),
        Path(snakemake.output.stages),
        origin,
        timed,
        bandwidth,
    )
