from overdeck.machine.load import Load, load


def test_the_load_is_shared_by_the_cores():
    assert Load(6.0, 1.0, 4).per_core == 1.5


def test_this_machine_has_a_load_and_a_core():
    now = load()

    assert now is None or (now.one >= 0 and now.cores >= 1)
