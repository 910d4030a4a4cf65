"""What hooks cost a whole fleet: cores kept busy and processes started, from costs per event and event rates.

    cores = sessions × Σ over events (events/s of one session × mean CPU-s of one event)

and process starts likewise. Means, never medians: a sum over a day is made of the dear calls as well, and
medians of parts do not add up. ``arithmetic`` is the model, ``rates`` and ``recorded`` say how often what
happens, ``costs`` measures, ``report`` says it.
"""

from overdeck.bench.bootstrap import Estimate
from overdeck.bench.fleet.arithmetic import total_of_means, totals_ratio
from overdeck.bench.fleet.costs import FleetArm, dispatcher_fleet_arm, measure_costs, settings_fleet_arm
from overdeck.bench.fleet.model import ArmTotal, EventCost, Fleet, Span, fleet_of
from overdeck.bench.fleet.rates import Rate, Rates, given_rates, parse_rate, read_rates
from overdeck.bench.fleet.recorded import recorded_rates

__all__ = [
    "ArmTotal",
    "Estimate",
    "EventCost",
    "Fleet",
    "FleetArm",
    "Rate",
    "Rates",
    "Span",
    "dispatcher_fleet_arm",
    "fleet_of",
    "given_rates",
    "measure_costs",
    "parse_rate",
    "read_rates",
    "recorded_rates",
    "settings_fleet_arm",
    "total_of_means",
    "totals_ratio",
]
