"""The script file of the mock model."""

import json
from pathlib import Path

import pytest

from overdeck.errors import OverdeckError
from overdeck.probe.mock.script import Call, Reply, read_script


def test_a_script_file_holds_replies_by_conversation(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    call = {"tool": "Bash", "input": {"command": "ls"}}
    file.write_text(json.dumps({"main": [{"calls": [call]}, {"status": 529}], "MARK": [{"text": "hi"}]}))
    script = read_script(file)
    assert script.reply("main", 0) == Reply(calls=(Call("Bash", {"command": "ls"}),))
    assert script.reply("main", 1).status == 529
    assert script.reply("main", 2).text == "All done."
    assert script.conversation("a MARK here") == "MARK"


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ([], "an object"),
        ({"main": {}}, "/main"),
        ({"main": ["x"]}, "/main/0"),
        ({"main": [{"txt": "x"}]}, "/main/0/txt"),
        ({"main": [{"status": True}]}, "/main/0/status"),
        ({"main": [{"calls": [{}]}]}, "/main/0/calls/0"),
        ({"main": [{"calls": [{"tool": "Bash", "input": 5}]}]}, "/main/0/calls/0/input"),
    ],
)
def test_a_script_that_is_none_is_refused_with_the_place(tmp_path: Path, document: object, where: str) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(document))
    with pytest.raises(OverdeckError, match=where) as refused:
        read_script(file)
    assert refused.value.exit_code == 2


def test_a_script_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(OverdeckError) as refused:
        read_script(tmp_path / "none.json")
    assert refused.value.exit_code == 3
