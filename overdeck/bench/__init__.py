"""hookbench: randomised pairs, exact signed-rank, and the gate on per-call cost."""
