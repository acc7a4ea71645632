"""Time every decoder of a dataset side by side: see fastdecode.measure.latency."""

from pathlib import Path

import torch

from fastdecode.config.rows import Latency
from fastdecode.decode import load_system, translate_lines
from fastdecode.errors import clear_errors
from fastdecode.files import read_lines
from fastdecode.measure.latency import measure, stratified_sample, write_latency
from fastdecode.provenance import circumstances, provenance
from fastdecode.stages import Stopwatch
from fastdecode.text import Text

files, params = snakemake.input, snakemake.params
names = snakemake.wildcards
settings = Latency.model_validate(params.latency)
with clear_errors():
    before = circumstances()
    threads = 1
    torch.set_num_threads(threads)
    text = Text(**params.text, codes=Path(files.codes).parent)
    decoders, timed = {}, {}
    for model, checkpoint in zip(params.models, files.checkpoints, strict=True):
        system = load_system([Path(checkpoint)], Path(files.data), params.device)
        for decoder, row in params.decoders[model["system"]].items():
            name = f"{model['target']}/{model['system']}/{decoder}"
            decode = translate_lines(
                system.decoder(params.family[decoder], row, text.target_text), text, Stopwatch()
            )
            decoders[name] = lambda line, decode=decode: decode([line])[0]
            timed[name] = {**model, "decoder": decoder}
    lines = list(read_lines(Path(files.lines)))
    chosen = stratified_sample([len(text.source_tokens(line)) for line in lines], settings.lines)
    cuda = params.device == "cuda"
    samples = measure(
        decoders,
        [lines[index] for index in chosen],
        settings.warmup,
        settings.repeats,
        torch.cuda.synchronize if cuda else lambda: None,
    )
    origin = provenance(
        dataset=names.dataset,
        system=None,
        decoder=None,
        seed=None,
        device=torch.cuda.get_device_name() if cuda else "cpu",
        split=names.split,
        tier="reference",
        scenario="S1",
        threads=threads,
        precision="fp32",
        lines=chosen,
        before=before,
        after=circumstances(),
    )
    write_latency(
        Path(snakemake.output.summary), Path(snakemake.output.samples), origin, timed, samples
    )
