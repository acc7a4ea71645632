"""Small models of graphs in training, in fp64, and what they learn from."""

from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion

from fastdecode.families.dag.criterion import GraphLoss, GraphLossConfig
from fastdecode.families.dag.model import GraphModel, graph_architecture
from fastdecode.families.dag.task import GraphTask
from tests.families.dag.conftest import dictionary


def begun(links: str = "softmax", as_bert: bool = False) -> GraphModel:
    """A model in fp64 before its training."""
    sizes = {"embed_dim": 16, "ffn_embed_dim": 24, "layers": 1, "attention_heads": 2}
    sides = {f"{side}_{k}": v for side in ("encoder", "decoder") for k, v in sizes.items()}
    positions = {"max_source_positions": 1024, "max_target_positions": 1024}
    more = {"graph_factor": 2.0, "links": links, "share_all_embeddings": True}
    settings = Namespace(**sides, **positions, **more, apply_bert_init=as_bert)
    graph_architecture(settings)
    words = dictionary(26)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
        model: GraphModel = GraphModel.build_model(settings, task).double()
    return model


def learner(links: str = "softmax") -> GraphModel:
    """A random model in fp64, in training."""
    model = begun(links)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(6)
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return model


def batch_of(task: GraphTask, numbers: list[int]) -> dict[str, Any]:
    data = task.dataset("valid")
    return data.collater([data[i] for i in numbers])  # type: ignore[no-any-return]


def loss_of(task: Any, **options: Any) -> FairseqCriterion:
    settings = {"marginalise": "sum", "glancing": "adaptive", "seed": 1} | options
    return GraphLoss(GraphLossConfig(**settings), task)
