"""What ``--env`` adds to an arm's environment."""

from overdeck.errors import usage


def environ_of(words: list[str]) -> dict[str, str]:
    """The variables of ``KEY=VALUE`` words; a usage error for any other."""
    pairs = [word.partition("=") for word in words]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise usage(f"--env {key!r} is not KEY=VALUE", hint="--env PATH=/usr/bin:/bin")
    return {key: value for key, _, value in pairs}
