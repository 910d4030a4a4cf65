"""What hook modules are built with: readers of shell text and documents, memories of a session.

The dispatcher itself needs none of it. No code stands in this file: the bundle makes the package without reading it.
"""
