"""The server's queue without a network: who is served when, and what happens to those who go."""

from pathlib import Path

import pytest

from gemm_lab_classroom.gateway import fair_queue
from gemm_lab_classroom.gateway.fair_queue import FORGOTTEN_S, KEPT_S, STOPPED_S, FairQueue, Job, Refused

GPU = ("gpu", "sm_90a")


@pytest.fixture
def queue():
    return FairQueue(total_bytes=1000)


def come(queue, ticket, owner=None, kind=GPU, now=0.0, size=0):
    job = Job(ticket, owner or ticket, kind, "launch", "running x", Path("nowhere"), now)
    queue.arrive(job)
    queue.grow(job, size)
    queue.enter(job, now)
    return job


def serve(queue, *workers, most=9, now=0.0):
    """Tickets of the jobs that begin on free workers."""
    return [job.ticket for job in queue.begin(dict.fromkeys(workers, GPU), most, now)]


def finish(queue, ticket, now=0.0):
    queue.finish(queue.jobs[ticket], now)


def test_first_come_first_served(queue):
    """With who is served and how many come before."""
    jobs = [come(queue, name) for name in "abc"]
    assert [queue.before(job) for job in jobs] == [0, 1, 2] and queue.holder(GPU, 0.0) == ""
    for name in "abc":
        assert serve(queue, "w") == [name]
        assert queue.holder(GPU, 2.0) == f"{name} is running x, 2 s"
        assert serve(queue) == []
        finish(queue, name)
    assert serve(queue, "w") == []


def test_many_jobs_of_one_stand_behind_everybodys_first(queue):
    for number in range(5):
        come(queue, f"a{number}", "a")
    come(queue, "b0", "b"), come(queue, "c0", "c"), come(queue, "b1", "b")
    assert [job.ticket for job in queue.order()] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]


def test_what_runs_counts_too(queue):
    come(queue, "a0", "a")
    assert serve(queue, "w") == ["a0"]
    come(queue, "a1", "a"), come(queue, "b0", "b")
    assert [job.ticket for job in queue.order()] == ["b0", "a1"]


def test_a_turn_counts_whatever_comes_of_it(queue):
    """Whoever takes turns and goes away is served no more often than those who stay."""
    for round_number in range(4):
        come(queue, f"liar{round_number}", "liar"), come(queue, f"honest{round_number}", "honest")
        served = []
        for _ in range(2):
            (ticket,) = serve(queue, "w")
            served.append(ticket)
            queue.leave(queue.jobs[ticket])
            finish(queue, ticket)
        assert sorted(served) == [f"honest{round_number}", f"liar{round_number}"]
    assert queue.served == {"liar": 4, "honest": 4}


def test_who_comes_late_is_not_held_up_by_the_past(queue):
    for number in range(5):
        come(queue, f"a{number}", "a")
        serve(queue, "w"), finish(queue, f"a{number}")
    come(queue, "late", "late"), come(queue, "a9", "a")
    assert [job.ticket for job in queue.order()] == ["late", "a9"]


def test_jobs_wait_for_their_kind(queue):
    come(queue, "a"), come(queue, "b", kind=("simulator", ""))
    begun = queue.begin({"w1": GPU, "w2": ("simulator", ""), "w3": ("gpu", "sm_75")}, 9, 0.0)
    assert {job.ticket: job.worker for job in begun} == {"a": "w1", "b": "w2"}


def test_one_person_leaves_workers_to_the_others(queue):
    for number in range(4):
        come(queue, f"a{number}", "a")
    assert serve(queue, "w1", "w2", "w3", most=2) == ["a0", "a1"]
    come(queue, "b", "b")
    assert serve(queue, "w3", most=2) == ["b"]


def test_a_person_has_so_many_jobs_and_no_more(queue):
    for number in range(fair_queue.MOST_WAITING):
        come(queue, f"a{number}", "a")
    with pytest.raises(Refused, match="6 requests on this server already") as refusal:
        come(queue, "a9", "a")
    assert refusal.value.status == 429
    with pytest.raises(Refused, match="made already"):
        come(queue, "a0", "b")
    come(queue, "b", "b")
    serve(queue, "w"), finish(queue, "a0")
    come(queue, "a9", "a")


def test_bytes_are_counted_for_each_and_for_all(queue, monkeypatch):
    monkeypatch.setattr(fair_queue, "MOST_BYTES_OF_ONE", 600)
    come(queue, "a", "a", size=500)
    with pytest.raises(Refused, match="exceed"):
        come(queue, "a1", "a", size=200)
    queue.jobs.pop("a1")
    with pytest.raises(Refused, match="no room") as refusal:
        come(queue, "b", "b", size=600)
    assert refusal.value.status == 503


def test_who_leaves_frees_the_place_but_not_a_worker_that_works(queue):
    waiting, running = come(queue, "a"), come(queue, "b")
    assert queue.leave(waiting) and "a" not in queue.jobs
    assert serve(queue, "w") == ["b"]
    assert not queue.leave(running) and queue.holder(GPU, 0.0)
    assert queue.abandoned(STOPPED_S) == [] and queue.abandoned(STOPPED_S + 1) == [running]
    finish(queue, "b")
    assert queue.abandoned(STOPPED_S + 1) == []
    assert queue.forgotten(0.0) == [running]


def test_who_asks_no_more_is_dropped(queue):
    come(queue, "a"), come(queue, "b")
    assert serve(queue, "w") == ["a"]
    finish(queue, "a")
    assert queue.forgotten(FORGOTTEN_S) == []
    assert [job.ticket for job in queue.forgotten(FORGOTTEN_S + 1)] == ["b"]
    assert [job.ticket for job in queue.forgotten(KEPT_S + 1)] == ["a", "b"]
