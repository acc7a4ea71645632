"""How large graphs are. Their vertices begin as the blank slots of fastdecode.framing.

Sources and targets are framed by `<s>` and `</s>`, in training (task.py) and decoding. The first
vertex stands for `<s>` and the last one for `</s>`: every path goes from one to the other.
"""

from torch import Tensor


def graph_sizes(lengths: Tensor, factor: float, most: int) -> Tensor:
    """Return L = int(λ · S) (B) for sources of `lengths` (B), with the frame; at most `most`."""
    return (lengths.double() * factor).long().clamp(max=most)
