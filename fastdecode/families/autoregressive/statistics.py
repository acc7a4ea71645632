"""What is measured of an autoregressive system beside its translations."""

from typing import Any

import torch
from fairseq.search import Sampling
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fastdecode.decode import batches
from fastdecode.families.autoregressive.reference import OwnLimits
from fastdecode.families.autoregressive.rows import Decoder
from fastdecode.framing import end_sentences
from fastdecode.limits import limits
from fastdecode.measure.samples import SEED, TOP_P, sampled
from fastdecode.measure.statistic import Lines, Split, Statistic
from fastdecode.system import System

MOST_TOKENS = 512  # of a batch of sources


class Nucleus(OwnLimits, Sampling):  # type: ignore[misc]
    """fairseq's, of what is allowed: a banned token may have had all probability to itself."""

    def step(
        self,
        step: int,
        lprobs: Tensor,
        scores: Tensor,
        prev_output_tokens: Tensor | None = None,
        original_batch_idxs: Tensor | None = None,
    ) -> Any:
        """See fairseq; `lprobs` (B', W, V) are -inf where a token is banned."""
        lprobs = self.allowed(step, lprobs, original_batch_idxs).log_softmax(-1)
        return super().step(step, lprobs, scores, prev_output_tokens, original_batch_idxs)


def samples(system: System, split: Split) -> dict[str, Any]:
    """Measure translations drawn token by token, by fairseq (Huang et al. 2022, figure 8)."""
    return sampled(system, split, lambda *wanted: _drawn(system, *wanted))


@torch.inference_mode()
def _drawn(system: System, sources: Lines, temperature: float, count: int) -> list[Lines]:
    """Draw `count` samples of each source: a beam so wide, each of whose rows goes its own way."""
    longest = min(int(model.max_decoder_positions()) for model in system.models) - 1
    generator = SequenceGenerator(
        system.models,
        system.target,
        beam_size=count,
        max_len_a=0,
        temperature=temperature,
        search_strategy=Nucleus(system.target, sampling_topp=TOP_P),
    )
    device = next(system.models[0].parameters()).device
    found: dict[int, Lines] = {}
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        for group in batches(sources, MOST_TOKENS):
            several = [sources[i] for i in group]
            padded = end_sentences(several, system.source, left_pad=True).to(device)  # (B, S)
            lengths = torch.tensor([len(source) + 1 for source in several], device=device)
            net_input = {"src_tokens": padded, "src_lengths": lengths}
            most = limits(several, Decoder(), None, longest)
            generator.max_len_b = int(most.max())
            generator.search.hold(most.to(device), exact=False)
            for i, drawn in zip(
                group, generator.generate([], {"net_input": net_input}), strict=True
            ):
                found[i] = [_words(system, sample["tokens"].tolist()) for sample in drawn]
    return [found[i] for i in range(len(sources))]


def _words(system: System, ids: list[int]) -> list[str]:
    return [system.target[i] for i in ids if i != system.target.eos()]


STATISTICS: dict[str, Statistic] = {"samples": samples}
