"""The audit as one self-contained page: no other file, no host, no script."""

from overdeck.wiring.html.page import render, write_page
from overdeck.wiring.html.place import check_place

__all__ = ["check_place", "render", "write_page"]
