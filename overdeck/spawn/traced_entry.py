"""What the tracer's process runs: ``python -I -S traced_entry.py``, small for the reasons of spawner.py."""

import sys

if __name__ == "__main__":
    # -I and -S leave only the standard library; overdeck comes after it, so that it can shadow nothing.
    sys.path.append(__file__.rpartition("/overdeck/spawn/")[0])
    from overdeck.spawn.tracing import serve_traced

    serve_traced()
