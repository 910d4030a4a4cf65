"""The incident registry: an append-only log that refuses to resolve without an artifact."""
