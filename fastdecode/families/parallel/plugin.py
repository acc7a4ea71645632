"""What of this family registers with fairseq."""

from fastdecode.families.parallel import criterion as criterion
from fastdecode.families.parallel import models as models
from fastdecode.families.parallel import task as task
