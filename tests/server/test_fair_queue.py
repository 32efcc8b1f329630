"""The server's queue without a network: who is served when, and what happens to turns that nobody uses."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed", reason="the extra classroom is not installed")

from distributed.core import Status

from gemm_lab.device.remote import KEY, RESOURCE
from gemm_lab.server import fair_queue
from gemm_lab.server.fair_queue import FairQueue

GPU = ["gpu", "sm_90a"]


def worker(backend="gpu", arch="sm_90a", **changes):
    facts = {"extra": {KEY: {"backend": backend, "arch": arch}}, "resources": {RESOURCE: 1}, "status": Status.running}
    return SimpleNamespace(**(facts | changes))


def with_queue(test):
    """Run an async test with a queue whose scheduler has no workers yet."""

    def run(monkeypatch):
        async def body():
            queue = FairQueue()
            await queue.start(SimpleNamespace(handlers={}, workers={}, allowed_failures=3))
            await test(queue)

        monkeypatch.setattr(fair_queue, "LONG_POLL_S", 0.01)
        with ThreadPoolExecutor(1) as other:  # this thread may have a loop already: Playwright's
            other.submit(asyncio.run, body()).result()

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def take(queue, ticket, client=None, kind=GPU):
    return await queue.take(ticket, client or ticket, kind, who=client or ticket, what="running x")


def add(queue, address, **facts):
    queue.scheduler.workers[address] = worker(**facts)
    queue.add_worker(queue.scheduler, address)


def remove(queue, address):
    del queue.scheduler.workers[address]
    queue.remove_worker(queue.scheduler, address)


def finish(queue, ticket):
    queue.transition(f"{KEY}-{ticket}", "waiting", "processing")
    queue.transition(f"{KEY}-{ticket}", "processing", "memory")


@with_queue
async def test_first_come_first_served(queue):
    """With who is served and how many come before."""
    assert queue.scheduler.allowed_failures == 0
    states = [await take(queue, name) for name in "abc"]
    assert [state["before"] for state in states] == [0, 1, 2] and states[0]["holder"] == ""
    add(queue, "w1")
    served = []
    for _ in "abc":
        (name,) = (turn.ticket for turn in queue.taken.values())
        served.append(name)
        state = await take(queue, "z")
        assert f"{name} is running x, 0 s" in state["holder"]
        finish(queue, name)
    assert served == ["a", "b", "c"]


@with_queue
async def test_many_tickets_of_one_client_stand_behind_everybodys_first(queue):
    for number in range(5):
        await take(queue, f"a{number}", client="a")
    await take(queue, "b0", client="b")
    await take(queue, "c0", client="c")
    await take(queue, "b1", client="b")
    assert [turn.ticket for turn in queue.order()] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]


@with_queue
async def test_a_worker_has_one_job_and_jobs_wait_for_their_kind(queue):
    add(queue, "w1")
    add(queue, "w2", backend="emulator", arch=None)
    assert (await take(queue, "a"))["worker"] == "w1"
    assert (await take(queue, "b"))["state"] == "waiting"
    assert (await take(queue, "c", kind=["emulator", ""]))["worker"] == "w2"
    add(queue, "w3", arch="sm_75")
    assert (await take(queue, "b"))["state"] == "waiting"


@with_queue
async def test_workers_that_do_not_take_part(queue):
    for address, facts in {"no facts": {"extra": {}}, "no resource": {"resources": {}}, "paused": {"status": Status.paused}}.items():
        add(queue, address, **facts)
    assert (await take(queue, "a"))["state"] == "waiting" and queue.workers() == []


@with_queue
async def test_a_worker_that_ends_loses_its_turn_and_no_other(queue):
    add(queue, "w1")
    add(queue, "w2")
    assert {(await take(queue, name))["worker"] for name in "ab"} == {"w1", "w2"}
    await take(queue, "c")
    queue.transition(f"{KEY}-a", "waiting", "processing")
    remove(queue, "w1")
    assert queue.state("a") == {"state": "lost"} and queue.state("b")["state"] == "turn"
    assert queue.state("c")["state"] == "waiting"
    add(queue, "w3")
    assert queue.state("c")["worker"] == "w3"


@with_queue
async def test_who_leaves_before_sending_a_job_frees_the_worker(queue):
    add(queue, "w1")
    await take(queue, "a")
    await take(queue, "b")
    queue.leave("a")
    assert queue.state("b")["state"] == "turn" and queue.state("a")["state"] == "unknown"


@with_queue
async def test_a_job_that_runs_keeps_its_worker_until_it_ends(queue):
    add(queue, "w1")
    await take(queue, "a")
    await take(queue, "b")
    queue.transition(f"{KEY}-a", "waiting", "processing")
    queue.leave("a")
    queue.remove_client(queue.scheduler, "a")
    assert queue.state("b")["state"] == "waiting"
    queue.transition(f"{KEY}-a", "processing", "released")
    assert queue.state("b")["state"] == "turn"


@with_queue
async def test_clients_that_vanish_hold_nothing_up(queue):
    fair_queue.UNUSED_TURN_S, before = 0.3, fair_queue.UNUSED_TURN_S
    try:
        add(queue, "w1")
        for name in "abc":
            await take(queue, name)
        queue.remove_client(queue.scheduler, "b")
        await asyncio.sleep(0.4)  # a had its turn and sent no job
        assert queue.state("c")["state"] == "turn"
        queue.waiting.clear()
        await take(queue, "d")
        queue.waiting["d"].asked -= 100  # asked no more
        finish(queue, "c")
        assert queue.state("d")["state"] == "unknown" and queue.taken == {}
    finally:
        fair_queue.UNUSED_TURN_S = before


@with_queue
async def test_other_jobs_of_dask_are_none_of_its_business(queue):
    add(queue, "w1")
    await take(queue, "a")
    for key in ("other-1", ("tuple", 1), f"{KEY}-unknown"):
        queue.transition(key, "processing", "memory")
    assert queue.state("a")["state"] == "turn"
