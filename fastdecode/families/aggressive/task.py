"""The fairseq task of the drafter: translation pairs, glancing, BLEU by the drafter alone."""

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationTask

from fastdecode.families.aggressive.training import DRAFTER
from fastdecode.glancing import Glances, GlancingConfig
from fastdecode.train.task import DecodesItself


@register_task(DRAFTER, dataclass=GlancingConfig)
class DrafterTask(Glances, DecodesItself, TranslationTask):  # type: ignore[misc]
    """Translation by blocks."""
