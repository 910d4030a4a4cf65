"""The count does not depend on the order in which the kernel tells what happened."""

from hypothesis import given
from hypothesis import strategies as st

from overdeck.spawn.tracing import Census

ROOT = 100
PROGRAM = {"name": "true", "executable": "/bin/true", "script": ""}


@st.composite
def histories(draw):
    """A tree of tasks, and all that is told of it in an order that wait4 could give.

    Each task is (parent, is a thread); each word is (what is told, by which task, about which).
    """
    tasks = [(None, False)]
    for number in range(1, draw(st.integers(1, 12))):
        tasks.append((draw(st.integers(0, number - 1)), draw(st.booleans())))
    left = []
    for number, (parent, thread) in enumerate(tasks):
        births = [("born", child) for child, (of, _) in enumerate(tasks) if of == number]
        killed_at_once = not births and draw(st.booleans())
        stopped = [] if parent is None or killed_at_once else [("stopped", number)]
        ends = [("ended", number)] * (
            1 if thread else draw(st.integers(1, 2))
        )  # twice: unreaped, then adopted by us
        left.append([*stopped, *births, *ends])

    def there(number):
        """A child can speak once its parent has started it, which is before the parent's own word of it is read."""
        parent = tasks[number][0]
        return parent is None or ("born", number) not in left[parent][1:]

    def ready(number):
        """A leader's end is not told while its threads live."""
        if not left[number] or not there(number):
            return False
        others = [other for other in range(len(tasks)) if other != number and process_of(tasks, other) == number]
        return left[number][0][0] != "ended" or not any(left[other] for other in others)

    told = []
    while able := [number for number in range(len(tasks)) if ready(number)]:
        number = draw(st.sampled_from(able))
        what, about = left[number].pop(0)
        told.append((what, number, about))
    assert not any(left)
    return tasks, told


def process_of(tasks, number):
    """The process that a task belongs to: a thread's is that of the task that started it."""
    while tasks[number][1]:
        number = tasks[number][0]
    return number


@given(histories())
def test_every_process_and_thread_is_counted_once_with_its_parent(history):
    tasks, told = history
    census = Census(lambda tid: ROOT + process_of(tasks, tid - ROOT))
    census.root(ROOT)
    for what, number, about in told:
        if what == "born":
            census.born(ROOT + number, ROOT + about)
        else:
            getattr(census, what)(ROOT + number)
    processes = [number for number, (_, thread) in enumerate(tasks) if not thread]
    assert len(census.processes) == len(processes)
    assert sum(process["threads"] for process in census.processes) == len(tasks) - len(processes)
    assert [process["parent"] for process in census.processes].count(None) == 1


def test_a_child_that_ends_before_its_parents_event_is_read_has_its_parent():
    census = Census(lambda tid: tid)
    census.root(1)
    census.stopped(2)
    census.ended(2)
    census.born(1, 2)
    assert [process["parent"] for process in census.processes] == [None, 0]


def test_a_child_that_is_killed_before_anything_is_told_of_it_counts():
    census = Census(lambda tid: tid)
    census.root(1)
    census.ended(2)
    census.ended(1)
    assert len(census.processes) == 2


def test_an_id_that_is_used_again_is_another_process():
    census = Census(lambda tid: tid)
    census.root(1)
    for _ in range(3):
        census.born(1, 2)
        census.stopped(2)
        census.ended(2)
        census.ended(2)
    assert len(census.processes) == 4


def test_the_id_of_a_thread_that_became_the_leader_by_an_exec_is_free_again():
    threads = {3}
    census = Census(lambda tid: 1 if tid in threads else tid)
    census.root(1)
    census.born(1, 3)
    census.executed(1, 3, PROGRAM)
    threads.clear()
    census.stopped(3)
    census.born(1, 3)
    assert [(len(process["programs"]), process["threads"]) for process in census.processes] == [(1, 1), (0, 0)]
