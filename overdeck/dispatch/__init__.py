"""The hot path: one payload in, one JSON document or nothing out. Standard library only."""
