"""Artifacts that are run: a test, a repro or a resume test, in two clean worktrees, shut off from everything else."""
