"""Does every gate still deny what its matrix says it must, through the front?"""

from overdeck.wiring.doctor.check import Check, Result, Situation


def _canaries(situation: Situation) -> Result:
    from overdeck.authoring.matrix import run_matrix

    fleet = situation.fleet
    gates = [module for module in fleet.enabled if module.cls == "gate"] if fleet is not None else []
    if fleet is None:
        return Result("skip", "which gates are on is not known: the config cannot be read")
    if not gates:
        return Result("skip", "no gate is on")
    failed, cases = [], 0
    for gate in gates:
        result = run_matrix(gate)
        cases += result.cases
        if not result.ok:
            failed.append(f"{gate.id}: {result.failures[0] if result.failures else 'its matrix has no case'}")
    if failed:
        return Result("fail", "; ".join(failed), f"overdeck hooks test {failed[0].partition(':')[0]}")
    return Result("ok", f"{len(gates)} gates answer all {cases} cases of their matrices through the front")


CANARY = (Check("gates", _canaries),)
