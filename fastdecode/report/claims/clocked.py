"""Times as resamples of the timed lines and repeats have them, from the raw samples of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fastdecode.config.timed import stages_of
from fastdecode.measure.resampling import (
    Numbers,
    resampled_rate,
    resampled_stages,
    resampled_time,
)
from fastdecode.measure.summary import UNACCOUNTED
from fastdecode.report.artifacts.cells import JOINT, TO
from fastdecode.report.sheet import read_csv

Timing = tuple[str, str, str, str]  # dataset, split, tier, scenario
UNITS = {"throughput_tokens": "tokens", "throughput_sentences": "sentences"}


@dataclass(frozen=True)
class Clocked:
    """The raw samples of a run's timings: those of stages lie beside those of whole sentences."""

    paths: Mapping[Timing, Path] = field(default_factory=dict)
    _read: dict[Path, pd.DataFrame] = field(default_factory=dict, repr=False)

    def time(self, where: Timing, entry: str, tidy: str, batch: str) -> Numbers | None:
        """Return an entry's time or rate, (R,), in Smax of batches of so many sentences."""
        samples = self._samples(where, entry)
        if samples is None or tidy not in {"latency_median", *UNITS}:
            return None
        if batch and where[-1] == "Smax":
            samples = samples[samples["batch"] == int(batch)]
        if samples.empty:
            return None
        if tidy == "latency_median":
            times = samples.pivot_table("milliseconds", "line", "repeat")
            return resampled_time(times.to_numpy(float))
        sums = samples.groupby("repeat")[[UNITS[tidy], "milliseconds"]].sum()
        return resampled_rate((1e3 * sums.iloc[:, 0] / sums.iloc[:, 1]).to_numpy(float))

    def stages(
        self, where: Timing, entry: str, names: str, lengths: str, share: bool
    ) -> Numbers | None:
        """Return the mean milliseconds of stages together, or their share of the whole, (R,).

        `names` are joined by JOINT; `lengths` are those of the outputs, as in "11–20", or all. It
        is NaN where no line of these lengths is drawn, and for few repeats: they do not tell of
        others. None is known of timings on a GPU before November 26, 2026: they have one repeat.
        """
        whole, staged = (self._samples(where, entry, staged) for staged in (False, True))
        if staged is None or whole is None or set(staged["repeat"]) != set(whole["repeat"]):
            return None
        sample = ["line", "repeat"]
        times = staged.pivot_table("milliseconds", sample, "stage", aggfunc="sum", fill_value=0)
        if UNACCOUNTED not in times:  # of before that day, on a CPU: stages of the timed samples
            total = whole.set_index(sample)["milliseconds"].reindex(times.index)
            times[UNACCOUNTED] = total - times.sum(axis=1)
        wanted = [*filter(None, names.split(JOINT))]
        if not set(wanted) <= set(times.columns):  # it had another name when this was timed
            return None
        tokens = staged.groupby("line")["tokens"].first()  # (N,)
        shortest, longest = map(int, lengths.split(TO)) if lengths else (0, tokens.max())
        inside = tokens.clip(lower=1).between(shortest, longest).to_numpy()  # as in bucket_of
        each = times.to_numpy(float).reshape(len(tokens), -1, times.shape[1])
        drawn = resampled_stages(each, inside)  # (R, stages)
        time: Numbers = drawn[:, times.columns.isin(wanted)].sum(axis=1)
        return time / drawn.sum(axis=1) if share else time

    def _samples(self, where: Timing, entry: str, staged: bool = False) -> pd.DataFrame | None:
        """Return the samples of one decoder, or those of its stages; None where there are none."""
        if where not in self.paths:
            return None
        path = stages_of(self.paths[where]) if staged else self.paths[where]
        if path not in self._read:
            self._read[path] = read_csv(path, dtype={"decoder": str})
        samples = self._read[path]
        samples = samples[samples["decoder"] == entry]
        return None if samples.empty else samples
