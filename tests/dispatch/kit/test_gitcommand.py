"""Which command lines commit, where a matrix of one folder would not show it."""

import pytest

from overdeck.dispatch.kit.gitcommand import committing


@pytest.mark.parametrize(
    "text",
    [
        "git-commit -m x", "/usr/lib/git-core/git-commit", "git -c alias.a=b -c alias.b=commit a", "uv run git commit",
        "git -c core.hooksPath= commit", "git rebase -x 'git commit --amend' main", "git -c alias.a='!git commit' a",
        "git submodule foreach git commit -am x", "git commit --no-verify", "find . -execdir git commit ;",
    ],
)  # fmt: skip
def test_it_commits(text: str) -> None:
    assert committing(text, "/")


@pytest.mark.parametrize(
    "text",
    [
        "git commit-graph write",
        "git log --grep commit",
        "git help commit",
        "git -c alias.a=a a",
        "git commit --dry-run",
    ],
)
def test_it_commits_nothing(text: str) -> None:
    assert committing(text, "/") == []
