"""What of this family registers with fairseq."""

from fastdecode.families.lattice import criterion as criterion
from fastdecode.families.lattice import model as model
