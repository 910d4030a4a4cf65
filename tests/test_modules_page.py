"""docs/modules.md is what its command makes of the manifests; every module is from somewhere and was measured."""

import tomllib
from pathlib import Path

from module_costs import PAGE, kept_costs, manifests, page

from overdeck.paths import shipped


def test_the_page_is_what_its_command_writes() -> None:
    assert Path(PAGE).read_text("utf-8") == page(kept_costs()), "next: python bench/module_costs.py --page"


def test_every_module_comes_from_somewhere_and_its_cost_was_measured() -> None:
    origins = tomllib.loads(shipped("modules", "origins.toml").read_text("utf-8"))
    ids = {manifest.id for manifest in manifests()}
    assert ids <= set(origins) and all(origins.values())
    assert {manifest.id for manifest in manifests() if manifest.native is None} == set(kept_costs())
