"""How bad a hazard is.

ERROR: the behaviour is undefined, or a result is wrong for some timing.   RACE: two accesses of one place race, or the
lanes of a warp hand on values through volatile memory as if they were in step.
SUSPICIOUS: it may be intended, or does no harm: two threads race and write the same value, a strong access is read
once where timing decides what it gives, a plain read gives what atomicCAS compares again, the padding of a struct may
be copied, warps meet at different barriers that count them all the same, or a register of tcgen05.ld is used before
tcgen05.wait::ld.
"""

from __future__ import annotations

ERROR, RACE, SUSPICIOUS = ("error", "race", "suspicious")
