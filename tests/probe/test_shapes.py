"""What differs between the shapes of two payloads."""

import pytest

from overdeck.probe.shapes import differences


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"a": 1}, {"a": 2.5}, []),
        ({"a": 1}, {"a": True}, ["/a: number became boolean"]),
        ({"a": {"b": "x"}}, {"a": {}}, ["/a/b is gone (string)"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": []}]}, ["/a/0/c is new (list)"]),
        ({"a": None}, {"a": "x"}, ["/a: null became string"]),
        ({"a": [1]}, {"a": []}, []),
    ],
)
def test_keys_and_types_are_compared_at_any_depth(old: object, new: object, said: list[str]) -> None:
    assert list(differences(old, new)) == said
