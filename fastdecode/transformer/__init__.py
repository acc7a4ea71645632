"""Transformers made for inference, of a trained fairseq model's weights: what fast paths share.

fairseq's own modules stay the naive twin: tests hold the two against each other.
"""
