"""What of this family registers with fairseq."""

from fastdecode.families.template import model as model
