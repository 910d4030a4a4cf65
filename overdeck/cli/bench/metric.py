"""The ``--metric`` of the verbs that judge."""

import enum


class MetricName(enum.StrEnum):
    """The metric that carries the verdict."""

    cpu = "cpu"
    wall = "wall"
