"""python -m nardy: the same as the command `nardy`."""

import sys

from nardy.cli import main

sys.exit(main())
