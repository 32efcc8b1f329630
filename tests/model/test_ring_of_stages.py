"""The parities of a ring of stages, against two mbarriers a stage that are played round by round."""

import pytest

from gemm_lab_lessons.ch08.mbarrier_phases import Barrier, stage_and_parities


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4, 7])
def test_each_wait_passes_when_its_phase_is_over_and_not_before(num_stages):
    full, empty = ([Barrier(1, 1) for _ in range(num_stages)] for _ in range(2))
    for k_tile in range(5 * num_stages):
        stage, to_read, to_fill = stage_and_parities(k_tile, num_stages)
        assert stage == k_tile % num_stages
        assert empty[stage].passes(to_fill), "the consumer has let go of the stage's last tile, if there was one"
        assert not full[stage].passes(to_read), "nothing has been copied in this round"
        full[stage] = full[stage].changed(arrivals=1)
        assert full[stage].passes(to_read)
        assert not empty[stage].passes((to_fill + 1) % 2), "the stage is not free for the round after"
        empty[stage] = empty[stage].changed(arrivals=1)
        assert empty[stage].passes((to_fill + 1) % 2)


def test_tile_7_of_three_stages():
    assert stage_and_parities(7, num_stages=3) == (1, 0, 1)
