"""What a model inherits, before fairseq's, to know how far its training is."""


class KnowsUpdates:
    """Remembers how many updates there were: random draws in losses depend on it."""

    num_updates = 0

    def set_num_updates(self, num_updates: int) -> None:
        """See fairseq, which calls this before every update."""
        super().set_num_updates(num_updates)  # type: ignore[misc]
        self.num_updates = num_updates
