"""Taking one switch out of a settings file's text, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from pluginhome import OTHER, PLUGIN
from settingstexts import documents

from overdeck.wiring.entries import Refused
from overdeck.wiring.plugins import switches


@given(documents(), st.sampled_from([True, False, ["1"]]), st.booleans())
@tries(max_examples=80)
def test_forgetting_a_switch_gives_the_text_back_that_was_before_it(text, value, beside):
    data = json.loads(text)
    data["enabledPlugins"] = {OTHER: True, PLUGIN: value} if beside else {PLUGIN: value}
    for indent in (None, 2, "\t"):
        written = json.dumps(data, indent=indent)
        left = switches.forget_switch(written, PLUGIN)
        assert json.loads(left) == {**data, "enabledPlugins": {OTHER: True} if beside else {}}
        assert list(json.loads(left)) == list(data)
        assert not beside or left == json.dumps({**data, "enabledPlugins": {OTHER: True}}, indent=indent)
    assert switches.forget_switch(text, PLUGIN) == text or PLUGIN in text


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_what_is_no_object_is_refused_never_guessed(text):
    with pytest.raises(Refused):
        switches.forget_switch(text, PLUGIN)


def test_a_repeated_switch_is_gone_in_both_places():
    text = '{"enabledPlugins": {"noisy@market": true, "a": true, "noisy@market": true}}'

    assert switches.forget_switch(text, PLUGIN) == '{"enabledPlugins": {"a": true}}'
