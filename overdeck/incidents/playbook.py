"""The pages of a registry's ``playbooks/``: what a class of trouble means and what to do about it."""

import re
from typing import NamedTuple

from overdeck.errors import not_found, usage
from overdeck.files import read_regular
from overdeck.incidents.registry import Registry
from overdeck.incidents.taxonomy import IncidentClass

SECTIONS = ("Meaning", "Check the machine first", "Diagnosis", "Fix", "What was rejected, and why")
"""The headings of a page, in their order."""


class Page(NamedTuple):
    """One playbook as it stands in the registry."""

    path: str
    text: str


def page(registry: Registry, known: IncidentClass) -> Page:
    """The playbook of a class; raises OverdeckError (not found) where its file is missing."""
    path = registry.playbooks / known.playbook
    try:
        return Page(str(path), read_regular(path).decode("utf-8", "replace"))
    except FileNotFoundError:
        raise not_found(
            f"the playbook of {known.slug} is missing: there is no {path}",
            code="no-playbook",
            hint="od-incidents init puts the shipped pages back, and changes nothing that is there",
        ) from None
    except OSError as error:
        raise usage(f"{path} cannot be read: {error.strerror}", code="unreadable", hint=f"ls -l {path}") from None


def symptoms(text: str) -> str:
    """What a page says of how the trouble looks: its meaning and how it is diagnosed.

    >>> symptoms("# T\\n\\n## Meaning\\n\\nIt hangs.\\n\\n## Fix\\n\\nKill it.\\n")
    'T\\nIt hangs.'
    """
    title = text.partition("\n")[0].removeprefix("# ")
    told = [title]
    for name in ("Meaning", "Diagnosis"):
        found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        told += [found[1].strip()] if found else []
    return "\n".join(told)
