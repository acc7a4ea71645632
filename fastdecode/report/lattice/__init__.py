"""Figures of Deng and Rush (2021) that no other paper has."""
