from typing import Any

import torch

from fastdecode.transformer.encoder import Encoder

PAD, EOS = 1, 2


def test_it_encodes_as_fairseq_does(model: Any) -> None:
    tokens = torch.tensor([[5, 9, 4, 7, EOS], [8, EOS, PAD, PAD, PAD], [6, 6, 10, EOS, PAD]])
    lengths = (tokens != PAD).sum(1)
    expected = model.encoder(tokens, lengths)["encoder_out"][0].transpose(0, 1)
    encode = Encoder(model.encoder)
    encoded = encode(tokens, (tokens != PAD)[:, None, None])
    for one, other, length in zip(encoded, expected, lengths, strict=True):
        assert torch.allclose(one[:length], other[:length], atol=1e-12)
    assert torch.allclose(encode(tokens[:1], None), expected[:1], atol=1e-12)


def test_padding_changes_nothing(model: Any) -> None:
    encode = Encoder(model.encoder)
    alone = encode(torch.tensor([[8, 4, EOS]]), None)
    tokens = torch.tensor([[8, 4, EOS, PAD, PAD], [9, 9, 9, 9, EOS]])
    padded = encode(tokens, (tokens != PAD)[:, None, None])
    assert torch.allclose(padded[:1, :3], alone, atol=1e-12)
