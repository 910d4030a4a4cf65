"""Commands held against patterns."""

import pytest

from overdeck.dispatch.kit.commandrules import first, leading, located
from overdeck.dispatch.ruletables import compiled


def matched(pattern: str, text: str, cwd: str = "/home/dev/proj") -> bool:
    return first(compiled({"r": {"pattern": pattern}}, ["pattern"]).rules, text, cwd) is not None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("git push", "git -C /x push"),
        ("git push", "git -c a.b=c --no-pager push"),
        ("kubectl delete ns", "kubectl -n x delete ns y"),
        ("kubectl delete ns", "kubectl delete --now ns y"),
        ("kubectl delete ns", "kubectl --context=x delete ns y"),
        ("a|b x|y", "b y z"),
        ("mkfs* <device>", "mkfs.ext4 -L x /dev/sda1"),
        ("a -r|--recursive", "a -fr x"),
        ("a -r|--recursive", "a --rec x"),
        ("a -r|--recursive", "a --recursive=yes"),
        ("a !-n", "a -f"),
        ("a -exec rm", "a x -exec rm {}"),
        ("a of=<device>", "a of=/dev/sdb"),
        ("* ><device>", "x 2>/dev/sda"),
        ("* ><device>", ">/dev/sda"),
        ("a <root>", "cd / && a bin"),
        ("a <root>", "cd /usr; cd ..; a *"),
        ("a <root>", "pushd /; a ./*"),
        ("a <root>", "cd / && (a *)"),
        ("a <root>", "(cd / && a *)"),
        ("a <root>", "bash -c 'cd /; a *'"),
    ],
)
def test_a_pattern_matches(pattern: str, text: str) -> None:
    assert matched(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("git push", "git log push"),
        ("git push", "git -C push status"),
        ("git push", "git commit -m push"),
        ("kubectl delete ns", "kubectl get delete ns"),
        ("a x", "a"),
        ("a -r", "a -- -r"),
        ("a !-n", "a -fn"),
        ("a of=<device>", "a if=/dev/sdb"),
        ("* ><device>", "x </dev/null >/dev/null"),
        ("a <root>", "cd /tmp/x && a *"),
        ("a <root>", "cd $X && a *"),
        ("a <root>", "(cd /usr && ls); a *"),
        ("a <root>", "x=$(cd /; pwd); a *"),
        ("a <root>", "cd - && a *"),
        ("a <root>", 'a "$X"/*'),
        ("a", "b a"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, text: str) -> None:
    assert not matched(pattern, text)


def test_each_command_is_found_with_its_rule() -> None:
    rules = compiled({"x": {"pattern": "a"}, "y": {"pattern": "b c"}}, ["pattern"]).rules
    found = [(rule["name"], command.arguments) for rule, _, command in located(rules, "a 1; b c; a 2; d")]
    assert found == [("x", ["1"]), ("y", ["c"]), ("x", ["2"])]


def test_leading_words_are_counted_only_where_they_stand_together() -> None:
    rules = compiled({"x": {"pattern": "a b c"}}, ["pattern"]).rules
    counts = [leading(pattern, command) for _, pattern, command in located(rules, "a b c d; a -q b c")]
    assert counts == [3, 0]
