"""What the module `capture` spooled, taken into a store exactly once, and closed into batches at the seams of the work.

Standard library only, and nothing of it is on the hot path: the native front appends a line, and is done.
"""
