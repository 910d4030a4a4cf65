"""A client's hook settings: read, audit, install."""
