"""The loops over a target's tokens as one Triton kernel each, for GPUs.

A step of such a loop is a product of a vector and a matrix, small enough that on a GPU its launch
takes longer than the work. Here one program takes one sentence through all of its steps: what
sweep.py and paths.py do in several launches a step is a single one. Between two steps a sentence's
vector lies in the GPU's memory, and a barrier makes all threads of the program see it; programs
share nothing. The sum takes two programs a sentence, one forward and one backward.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from fastdecode.families.dag.sweep import FORGET, Swept

TILE = 4096  # links that a program holds at once: 16 a thread
WARPS = 8  # of 32 threads, a program
LEAST_SCALE = tl.constexpr(torch.finfo(torch.float32).tiny)
SHARE = tl.constexpr(FORGET)  # see sweep.py


def sweep(chances: Tensor, edges: Tensor, allowed: Tensor, lengths: Tensor, sizes: Tensor) -> Swept:
    """Return what sweep.sweep does, given the same.

    But for what nothing reads: ahead[0], and the scale back of a target's last token.
    """
    chances = chances.contiguous()  # as the kernel takes what is like it to be
    count, sentences, vertices = chances.shape
    f, g, ahead = (torch.zeros_like(chances) for _ in range(3))
    scales, scales_back = chances.new_ones(2, count, sentences)
    found = Swept(f, g, ahead, scales, scales_back)
    f[0, :, 0] = 1.0
    scales[0] = chances[0, :, 0]
    last = lengths - 1, torch.arange(sentences, device=sizes.device), sizes - 1
    g[last] = 1.0
    ahead[last] = chances[last]
    given = (x.contiguous() for x in (chances, edges, allowed, lengths, sizes))
    _sweep[sentences, 2](*given, *found, count, vertices, **_blocks(vertices))
    return found


def best_path(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """Return what paths.best_path does, given the same."""
    sentences, count, vertices = tokens.shape
    scores = torch.full_like(tokens, float("-inf"), memory_format=torch.contiguous_format)
    scores[:, 0, 0] = tokens[:, 0, 0]
    path = (sizes - 1)[:, None].repeat(1, count)
    given = (x.contiguous() for x in (tokens, links, lengths, sizes))
    _best_path[(sentences,)](*given, scores, path, count, vertices, **_blocks(vertices))
    return path


def _blocks(vertices: int) -> dict[str, int]:
    """Return how a kernel cuts a matrix of links: all columns of a few rows at a time."""
    columns = triton.next_power_of_2(max(vertices, 16))
    rows = min(columns, max(1, TILE // columns))
    return {"ROWS": rows, "COLUMNS": columns, "num_warps": WARPS}


@triton.jit  # type: ignore[untyped-decorator]
def _sweep(
    chances: tl.tensor,  # (M, B, L), like f, g and ahead
    edges: tl.tensor,  # (B, L, L)
    allowed: tl.tensor,  # (B, M, L)
    lengths: tl.tensor,  # (B), like sizes
    sizes: tl.tensor,
    f: tl.tensor,
    g: tl.tensor,
    ahead: tl.tensor,
    scales: tl.tensor,  # (M, B), like scales_back
    scales_back: tl.tensor,
    count: tl.tensor,
    vertices: tl.tensor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
) -> None:
    """Sweep one sentence in one direction, from the vertex where that begins."""
    sentence = tl.program_id(0).to(tl.int64)
    sentences = tl.num_programs(0)
    length = tl.load(lengths + sentence).to(tl.int32)
    room = tl.load(sizes + sentence).to(tl.int32) - length
    edges += sentence * vertices * vertices
    allowed += sentence * count * vertices
    column = tl.arange(0, COLUMNS)
    if tl.program_id(1) == 0:
        for i in range(1, length):
            here, before = i * sentences + sentence, (i - 1) * sentences + sentence
            inside = (column >= i) & (column <= i + room)
            inside &= tl.load(allowed + i * vertices + column, inside, 0)
            previous = f + before * vertices
            mass = _carry(
                previous, edges, i - 1, room, vertices, inside, ROWS, COLUMNS, FORWARD=True
            )
            mass *= tl.load(chances + here * vertices + column, inside, 0.0)
            share, scale = _normalise(mass)
            tl.store(f + here * vertices + column, share + SHARE, inside)
            tl.store(scales + here, scale)
            tl.debug_barrier()  # the next step's threads read what others wrote
    else:
        for step in range(1, length):
            i = length - step
            here, before = i * sentences + sentence, (i - 1) * sentences + sentence
            inside = (column >= i - 1) & (column <= i - 1 + room)
            inside &= tl.load(allowed + (i - 1) * vertices + column, inside, 0)
            previous = ahead + here * vertices
            mass = _carry(previous, edges, i, room, vertices, inside, ROWS, COLUMNS, FORWARD=False)
            share, scale = _normalise(tl.where(inside, mass, 0.0))
            chance = tl.load(chances + before * vertices + column, inside, 0.0)
            share = tl.where(share > SHARE, share, 0.0)
            tl.store(g + before * vertices + column, share, inside)
            tl.store(ahead + before * vertices + column, share * chance, inside)
            tl.store(scales_back + before, scale)
            tl.debug_barrier()


@triton.jit  # type: ignore[untyped-decorator]
def _best_path(
    tokens: tl.tensor,  # (B, M, L), like scores
    links: tl.tensor,  # (B, L, L)
    lengths: tl.tensor,  # (B), like sizes
    sizes: tl.tensor,
    scores: tl.tensor,
    path: tl.tensor,  # (B, M)
    count: tl.tensor,
    vertices: tl.tensor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
) -> None:
    """Score all steps of one sentence, and walk back from its last vertex."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    size = tl.load(sizes + sentence).to(tl.int32)
    room = size - length
    links += sentence * vertices * vertices
    tokens += sentence * count * vertices
    scores += sentence * count * vertices
    path += sentence * count
    column = tl.arange(0, COLUMNS)
    for i in range(1, length):
        inside = (column >= i) & (column <= i + room)
        previous = scores + (i - 1) * vertices
        best = _carry(
            previous, links, i - 1, room, vertices, inside, ROWS, COLUMNS, FORWARD=True, BEST=True
        )
        best += tl.load(tokens + i * vertices + column, inside, float("-inf"))
        tl.store(scores + i * vertices + column, best, inside)
        tl.debug_barrier()
    vertex = size - 1
    for step in range(1, length):
        i = length - step
        tl.store(path + i, vertex)
        before = (column >= i - 1) & (column < vertex)
        score = tl.load(scores + (i - 1) * vertices + column, before, float("-inf"))
        score += tl.load(links + column * vertices + vertex, before, float("-inf"))
        vertex = tl.argmax(score, 0)
    tl.store(path, vertex)


@triton.jit  # type: ignore[untyped-decorator]
def _carry(
    vector: tl.tensor,  # (L)
    matrix: tl.tensor,  # (L, L), of which only what is above the diagonal is read
    first: tl.tensor,
    room: tl.tensor,
    vertices: tl.tensor,
    inside: tl.tensor,  # (COLUMNS), which of the result are wanted
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    FORWARD: tl.constexpr,
    BEST: tl.constexpr = False,
) -> tl.tensor:
    """Return Σ_r vector[r] · matrix[r, column] over vertices r from `first` to `first` + `room`.

    A tile of ROWS vertices after the other. Not `FORWARD` it is matrix[column, r]. With `BEST` the
    maximum takes the place of the sum, and the sum that of the product.
    """
    nothing = float("-inf") if BEST else 0.0
    column = tl.arange(0, COLUMNS)[None]
    found = tl.full((ROWS, COLUMNS), nothing, vector.dtype.element_ty)
    for begin in range(first, first + room + 1, ROWS):
        row = (begin + tl.arange(0, ROWS))[:, None]
        there = row <= first + room
        value = tl.load(vector + row, there, nothing)
        if FORWARD:
            wanted = there & inside[None] & (row < column)
            link = tl.load(matrix + row * vertices + column, wanted, nothing)
        else:
            wanted = there & inside[None] & (column < row)
            link = tl.load(matrix + column * vertices + row, wanted, nothing)
        if BEST:
            found = tl.maximum(found, value + link)
        else:
            found += value * link
    return tl.max(found, 0) if BEST else tl.sum(found, 0)


@triton.jit  # type: ignore[untyped-decorator]
def _normalise(mass: tl.tensor) -> tl.tensor:
    """Return a block over its sum, and the sum; see sweep.py."""
    scale = tl.sum(mass, 0)
    return mass / tl.maximum(scale, LEAST_SCALE), scale
