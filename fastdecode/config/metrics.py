"""The numbers of ours that an artifact can ask for, by the names used in `measured:`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """Where a number stands in the tidy measurements, and how it is printed."""

    heading: str
    form: str
    tidy: str
    kind: Literal["quality", "gain", "speed", "ratio", "stages"] = "quality"
    scenario: str = ""  # of a speed
    inverse: bool = False  # of a ratio: more is faster
    on_gpu: str = ""  # what stands for `tidy` where it was measured
    steady: bool = False  # a busy machine does not change it
    share: bool = False  # of stages: of the whole
    scale: float = 1.0  # of ours to that of the artifacts: 100 where these have percent
    random: bool = True  # other test lines, or another timing, would move it


METRICS = {
    "bleu": Metric("BLEU", "{:.2f}", "bleu"),
    "bleu_by_length": Metric("BLEU", "{:.2f}", "bleu_by_length"),  # dag.lengths
    "pairwise_bleu": Metric("BLEU", "{:.2f}", "pairwise"),  # dag.diversity
    "multi_reference_bleu": Metric("BLEU", "{:.2f}", "multi_reference"),  # the same
    "accuracy": Metric("right, %", "{:.1f}", "accuracy"),  # dag.accuracy
    "recall": Metric("found, %", "{:.1f}", "recall"),  # lattice.recall
    "ranks": Metric("share", "{:.1%}", "ranks"),  # lattice.ranks
    "tokenised_bleu": Metric("tokenised BLEU", "{:.2f}", "tokenised_bleu"),
    "compound_split_bleu": Metric("compound-split BLEU", "{:.2f}", "compound_split_bleu"),
    "chrf": Metric("chrF", "{:.2f}", "chrf"),
    # of an end of a row, in percent: bidirectional.ends
    "end_precision": Metric("precision", "{:.1f}", "end_precision"),
    "end_precision_gain": Metric("precision", "{:.1f}", "end_precision", "gain"),
    "repetition": Metric("repeated, %", "{:.2f}", "repetition_rate", scale=100),
    "passes": Metric("passes", "{:.1f}", "passes"),
    "tokens_per_pass": Metric("tokens/pass", "{:.2f}", "tokens_per_pass"),
    "latency": Metric("ms", "{:.2f}", "latency_median", "speed", "S1"),
    "tokens": Metric("tokens", "{:.1f}", "latency_tokens", "speed", "S1", steady=True),
    "memory": Metric(
        "peak MB",
        "{:.0f}",
        "memory_peak",
        "speed",
        "S1",
        on_gpu="memory_allocator_peak",
        steady=True,
        random=False,  # mostly weights and code
    ),
    "sentences_per_second": Metric(
        "sentences/s", "{:.1f}", "throughput_sentences", "speed", "Smax"
    ),
    "tokens_per_second": Metric("tokens/s", "{:.0f}", "throughput_tokens", "speed", "Smax"),
    "speedup": Metric("speed-up", "×{:.2f}", "latency_median", "ratio", "S1"),
    # what papers have that time whole test sets
    "speedup_of_means": Metric("speed-up of means", "×{:.2f}", "latency_mean", "ratio", "S1"),
    "sentences_ratio": Metric(
        "speed-up", "×{:.2f}", "throughput_sentences", "ratio", "Smax", inverse=True
    ),
    # of the stages that a row names: aggressive.modules; of one, by length: lattice.breakdown
    "module_time": Metric("ms", "{:.2f}", "latency_stage", "stages", "S1"),
    "module_share": Metric(
        "share, %", "{:.1f}", "latency_stage", "stages", "S1", share=True, scale=100
    ),
    "tokens_ratio": Metric(
        "tokens/s ratio", "×{:.2f}", "throughput_tokens", "ratio", "Smax", inverse=True
    ),
}
