"""Names of models: which one it is, and its size."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Model:
    """One trained model; its fields are the folders of its results."""

    dataset: str
    target: str
    system: str
    seed: int

    @classmethod
    def of(cls, folder: str) -> "Model":
        """Return the model whose results lie in this folder, below the results folder."""
        dataset, target, system, seed = folder.split("/")
        return cls(dataset, target, system, int(seed.removeprefix("seed")))

    @property
    def entry(self) -> str:
        """What a run calls it, whatever dataset and seed: target/system."""
        return f"{self.target}/{self.system}"

    @property
    def folder(self) -> Path:
        """Where its results lie, below the results folder."""
        return Path(self.dataset, self.target, self.system, f"seed{self.seed}")


@dataclass(frozen=True)
class Architecture:
    """The size of one model, as handed to fairseq-train."""

    width: int
    ffn: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    prenorm: bool = False

    @property
    def layers(self) -> str:
        """Encoder-decoder layers, such as 6-1."""
        return f"{self.encoder_layers}-{self.decoder_layers}"


def pair(entry: str) -> tuple[str, str]:
    """Return the target side and the system of `entry`, target/system."""
    target, system = entry.split("/")
    return target, system
