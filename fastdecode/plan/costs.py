"""What one job of a run takes: seconds and bytes.

A training update takes a fixed time for each layer, and the time of its multiplications: six for
every weight and token, forward and backward, and for what attention weighs. A decoder pass takes
the same with other constants, two for every weight and hypothesis, without attention. The constants
below were read off runs of this project on two cores (docs/measurements/plan); everything else
takes a time for its start and one for its lines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastdecode.config.devices import Device
from fastdecode.config.models import Model
from fastdecode.config.papers import trained
from fastdecode.config.read import Configuration
from fastdecode.config.timed import timed
from fastdecode.measure.statistic import MOST_TRAINING_LINES
from fastdecode.plan.jobs import Job
from fastdecode.plan.sizes import Size, Sizes

TRAINING, SINGLE, BATCHED = 0.25, 0.11, 0.08  # share of the matrix throughput that is reached
OPTIMISED = {"cpu": 0.7, "cuda": 0.4}  # of the reference tier's time
GLANCING = 4 / 3  # a pass without gradients before the step
IMPORT, LIGHT = 5.0, 2.0  # seconds of a job's start: with PyTorch and fairseq, and without
LINES_A_SECOND = {  # on one core
    **dict.fromkeys(("prepare", "extract"), 3_000.0),
    "apply_bpe": 20_000.0,
    "binarise_dataset": 15_000.0,
    "align_words": 700.0,
    "measure_quality": 3_000.0,
    "count_lattice": 1_500.0,
    "generate_toy": 5_000.0,
    "estimate_language_model": 50_000.0,
}
BYTES_A_SECOND = 10e6  # of a download
MERGES_A_SECOND = 100.0  # with the words of a hundred thousand lines
TEXT_BYTES, BINARY_BYTES = 45.0, 4.0  # of a compressed line; of a binarised token
WEIGHT_BYTES, TRAINED_BYTES = 4, 12  # of a weight: alone, and with Adam's two moments
FILE_BYTES = 50_000  # of a table, a figure, a document
Timed = Sequence[tuple[Model, str]]  # with which decoder


@dataclass(frozen=True)
class Machine:
    """What a job runs on."""

    name: str
    device: Device

    @property
    def throughput(self) -> float:
        """Operations a second in a matrix multiplication, by one core or one GPU."""
        return self.device.throughput * 1e9


@dataclass(frozen=True)
class Cost:
    """What a job takes."""

    seconds: float
    gpus: int = 0
    kept: float = 0.0  # bytes of its results
    scratch: float = 0.0  # bytes on top, until it ends


class Costs:
    """Knows what every job of a run takes."""

    def __init__(self, config: Configuration, sizes: Sizes, machine: Machine):
        """Count with the text of `sizes` and the speed of `machine`."""
        self._config, self._sizes, self._machine = config, sizes, machine
        self._gpu = int(config.run.device == "cuda")
        self._rules: dict[str, Callable[[Job], Cost]] = {
            "fetch_download": self._download,
            "train_system": self._training,
            "distill_shard": self._distilling,
            "translate_split": self._translating,
            "measure_latency": self._timing,
            "measure_memory": self._memory,
            "measure_statistic": self._statistic,
            "compare_quality": self._comparing,
            "compare_decoders": self._comparing,
            "compare_rows": self._comparing,
            "resample_quality": self._comparing,
            "learn_bpe": self._merging,
            "measure_machine": lambda job: Cost(15.0, self._gpu, FILE_BYTES),
        }

    def of(self, job: Job) -> Cost:
        """Return what a job takes."""
        return self._rules.get(job.rule, self._text)(job)

    # What depends on a model

    def weights(self, dataset: str, system: str) -> tuple[float, float, float]:
        """Return the weights of the encoder, the decoder, and the word embeddings of a model."""
        size = self._config.architecture(dataset, system)
        attention, feed_forward = 4 * size.width**2, 2 * size.width * size.ffn
        return (
            float(size.encoder_layers * (attention + feed_forward)),
            float(size.decoder_layers * (2 * attention + feed_forward)),
            float(size.width * self._sizes.vocabulary(dataset)),
        )

    def _layers(self, dataset: str, system: str) -> tuple[int, int]:
        size = self._config.architecture(dataset, system)
        return size.encoder_layers, size.decoder_layers

    def _attention(self, model: Model, pieces: float) -> float:
        """Return the multiplications of a source token's attention, and its slots', to others."""
        encoder, decoder = self._layers(model.dataset, model.system)
        slots = self._config.systems[model.system].slots
        seen = encoder * pieces + decoder * slots * (pieces + slots * pieces)
        return 2 * self._config.architecture(model.dataset, model.system).width * seen

    def _training(self, job: Job) -> Cost:
        model = _model(job)
        row = self._config.systems[model.system]
        settings = self._config.training(model.dataset, model.system)
        size = self._sizes.of(model.dataset, "train")
        tokens = size.lines * size.pieces
        batch = settings.batch_tokens * settings.accumulate
        gpus = settings.gpus if self._gpu else 0
        # batches are not full, and every GPU has one
        updates = tokens * (settings.max_epochs or 1e9) / (0.9 * batch * max(gpus, 1))
        updates = min(updates, settings.max_updates or updates)
        encoder, decoder, words = self.weights(model.dataset, model.system)
        a_token = encoder + row.slots * (decoder + words) + self._attention(model, size.pieces)
        operations = 6 * 0.9 * batch * a_token * (GLANCING if row.glances else 1)
        update = operations / (TRAINING * self._machine.throughput)
        layers = sum(self._layers(model.dataset, model.system))
        update += layers * self._machine.device.overhead * settings.accumulate
        weights = encoder + decoder + words
        return Cost(
            2 * IMPORT + updates * update,
            gpus,
            weights * WEIGHT_BYTES + FILE_BYTES,
            weights * (3 * TRAINED_BYTES + settings.average * WEIGHT_BYTES),
        )

    def _sentence(self, model: Model, decoder: str, size: Size, share: float) -> float:
        """Return the seconds of a sentence, of which the multiplications reach `share`."""
        encoder, layers = self._layers(model.dataset, model.system)
        of_encoder, of_decoder, words = self.weights(model.dataset, model.system)
        row = self._config.decoders[decoder]
        passes, rows = row.passes(size.pieces, self._config.systems[model.system])
        a_row = of_decoder + (words if row.scores_words else 0.0)
        operations = 2 * (size.pieces * of_encoder + passes * rows * a_row)
        fixed = self._machine.device.step * (encoder + passes * layers) if share == SINGLE else 0.0
        return fixed + operations / (share * self._machine.throughput)

    def _distilling(self, job: Job) -> Cost:
        names = job.wildcards
        size = self._sizes.of(names["dataset"], "train")
        lines = size.lines / int(names["shards"])
        decoder = self._config.run.distill_decoder
        seconds = sum(
            lines * self._sentence(teacher, decoder, size, BATCHED)
            for teacher in self._config.teachers(names["dataset"], names["target"])
        )
        return Cost(IMPORT + seconds, self._gpu, 0.0, lines * TEXT_BYTES)

    def _translating(self, job: Job) -> Cost:
        model = _model(job)
        size = self._sizes.of(model.dataset, job.wildcards["split"])
        seconds = IMPORT + sum(
            size.lines * self._sentence(member, job.wildcards["decoder"], size, BATCHED)
            for member in self._config.members(model)
        )
        return Cost(seconds, self._gpu, size.lines * 3 * TEXT_BYTES)

    def _lines(self, dataset: str, split: str, scenario: str) -> float:
        """Return how many lines are timed, of those that the split has."""
        latency = self._config.run.latency
        wanted = latency.lines if scenario == "S1" else latency.batch_lines
        return min(wanted, self._sizes.of(dataset, split).lines)

    def _timed(self, dataset: str, split: str, scenario: str, decoders: Timed) -> float:
        """Return the seconds of one pass over the timed lines, by all of these decoders."""
        latency = self._config.run.latency
        size = self._sizes.of(dataset, split)
        share = SINGLE if scenario == "S1" else BATCHED
        batches = 1 if scenario == "S1" else len(latency.batches)
        lines = self._lines(dataset, split, scenario) * batches
        tiers = {"reference": 1.0, "optimised": OPTIMISED[self._machine.device.kind]}
        return sum(
            lines
            * self._sentence(model, name, size, share)
            * tiers[self._config.decoders[name].tier]
            for model, name in decoders
        )

    def _timing(self, job: Job) -> Cost:
        dataset, split, scenario = (job.wildcards[key] for key in ("dataset", "split", "scenario"))
        latency = self._config.run.latency
        decoders = timed(self._config, dataset, job.wildcards["tier"])
        once = self._timed(dataset, split, scenario, decoders)
        warmup = latency.warmup / max(1, self._lines(dataset, split, scenario))
        passes = 1 + warmup + latency.repeats
        if self._gpu:  # all lines warm up, twice: stages are timed apart, in batches once
            passes = 2 + latency.repeats + (latency.repeats if scenario == "S1" else 1)
        return Cost(IMPORT + once * passes, self._gpu, 10 * FILE_BYTES)

    def _memory(self, job: Job) -> Cost:
        dataset, split = job.wildcards["dataset"], job.wildcards["split"]
        scenarios = self._config.run.latency.scenarios
        every = timed(self._config, dataset)
        decoders = [(model, name) for model, name in every if trained(model.entry)]
        seconds = sum(self._timed(dataset, split, scenario, decoders) for scenario in scenarios)
        return Cost(IMPORT + 3.0 * len(decoders) + seconds, self._gpu, FILE_BYTES)

    def _statistic(self, job: Job) -> Cost:
        model, split = _model(job), job.wildcards["split"]
        size = self._sizes.of(model.dataset, split)
        one = self._sentence(model, self._config.run.distill_decoder, size, SINGLE)
        lines = min(size.lines, MOST_TRAINING_LINES) if split == "train" else size.lines
        return Cost(IMPORT + 0.2 * lines * one, self._gpu, FILE_BYTES)

    # What does not

    def _download(self, job: Job) -> Cost:
        known = self._config.downloads[job.wildcards["key"]].bytes
        lines = self._sizes.of(next(iter(self._config.datasets)), "train").lines
        size = known or lines * TEXT_BYTES
        return Cost(LIGHT + size / BYTES_A_SECOND, 0, size)

    def _comparing(self, job: Job) -> Cost:
        files = sum(path.endswith(".jsonl.gz") for path in job.inputs)
        return Cost(LIGHT + 2.0 * files, 0, FILE_BYTES)

    def _merging(self, job: Job) -> Cost:
        dataset = job.wildcards["dataset"]
        row = self._config.datasets[dataset]
        lines = self._sizes.of(dataset, "train").lines
        slower = max(1.0, (lines / 1e5) ** 0.5)  # words grow with the root of the text
        sides = 1 if row.bpe.joint else 2
        seconds = LIGHT + lines / 20_000 + sides * row.bpe.merges / MERGES_A_SECOND * slower
        return Cost(seconds, 0, FILE_BYTES)

    def _text(self, job: Job) -> Cost:
        """Return the cost of a job by its lines, if it goes over any, else of a small one."""
        speed = next((v for k, v in LINES_A_SECOND.items() if job.rule.startswith(k)), None)
        dataset, split = self._dataset(job)
        if speed is None or dataset is None:
            return Cost(LIGHT, 0, FILE_BYTES * len(job.outputs))
        size = self._sizes.of(dataset, split)
        lines = size.lines
        kept = lines * size.pieces * BINARY_BYTES * 2 if "binarise" in job.rule else 0.0
        kept = kept or lines * TEXT_BYTES * len(job.outputs)
        return Cost(LIGHT + lines / speed, 0, kept)

    def _dataset(self, job: Job) -> tuple[str | None, str]:
        """Return the dataset whose text a job goes over, and the split.

        Rules of a corpus have no dataset: theirs is the first that is made of it.
        """
        split = job.wildcards.get("split", job.wildcards.get("part", "train"))
        if dataset := job.wildcards.get("dataset"):
            return dataset, split
        name = job.outputs[0]
        for dataset, row in self._config.datasets.items():
            if f"/{row.corpus}/" in name:
                return dataset, split
        return None, split


def _model(job: Job) -> Model:
    dataset, target, system, seed = (
        job.wildcards[key] for key in ("dataset", "target", "system", "seed")
    )
    return Model(dataset, target, system, int(seed))
