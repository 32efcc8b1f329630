"""Where PTX is silent or undefined: the simulator gives what an H200 gave, and reports what nobody may rely on."""

import pytest

from gpu_simulator.errors import SimulatorError
from tools.opcodes.recording import ARCH, COMMAND
from tools.rules.rule import ENDLESS, all_rules, recorded

TIMINGS = ("early", "late")


def test_every_rule_was_recorded_with_its_present_source():
    digests = {name: rule.digest() for name, rule in all_rules().items()}
    assert {name: one["digest"] for name, one in recorded().items()} == digests, f"on an H200 type: {COMMAND}"


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", [name for name in all_rules() if recorded()[name]["answer"] != ENDLESS])
def test_the_simulator_gives_what_the_hardware_gave(name, timing):
    rule = all_rules()[name]
    answer, hazards = rule.on_simulator(ARCH, timing)
    assert answer == recorded()[name]["answer"]
    kind, piece = rule.said
    assert kind in ("", "hazard")
    assert len(hazards) == (kind == "hazard") and all(piece in hazard for hazard in hazards), hazards


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", [name for name in all_rules() if recorded()[name]["answer"] == ENDLESS])
def test_what_did_not_end_is_an_error(name, timing):
    rule = all_rules()[name]
    with pytest.raises(SimulatorError, match=rule.said[1]) as caught:
        rule.on_simulator(ARCH, timing)
    assert type(caught.value).__name__ == rule.said[0]
