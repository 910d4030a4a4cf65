"""What the client starts: ``python -I -S entry.py EVENT --plan DIR``. All else is in front.py, compiled once."""

import sys

# -I and -S leave only the standard library; overdeck comes after it, so that it can shadow nothing.
sys.path.append(__file__.rpartition("/overdeck/dispatch/")[0])

from overdeck.dispatch import front

front.main(sys.argv)
