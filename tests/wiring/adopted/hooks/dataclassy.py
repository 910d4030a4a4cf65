from __future__ import annotations
import enum, json, logging, sys
from dataclasses import asdict, dataclass, field
from typing import get_type_hints
logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(message)s")
class Level(str, enum.Enum):
    LOW = "low"
@dataclass
class Finding:
    level: Level = Level.LOW
    tags: list[str] = field(default_factory=list)
logging.info("hints %s", sorted(get_type_hints(Finding)))
d = json.load(sys.stdin)
print(json.dumps({"systemMessage": json.dumps(asdict(Finding(tags=[d["tool_name"]])))}))
