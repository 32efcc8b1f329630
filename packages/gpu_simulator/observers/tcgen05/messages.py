"""Messages about tensor memory: which access, which earlier one may still be in flight, and what is missing."""

from __future__ import annotations

from gpu_simulator.observers.severities import SUSPICIOUS

NAMES = {kind: f"tcgen05.{kind}" for kind in ("mma", "cp", "shift", "ld", "st", "dealloc")}


class Tcgen05Messages:
    """Reports what `Tcgen05Checker` finds."""

    def __init__(self, detector):
        self.detector, self.resident, self.hazards = detector, detector.resident, detector.hazards

    def who(self, touch) -> str:
        """The thread of an access, or its warp if whole warps execute the instruction, in words."""
        name = self.resident.name_lane(touch.lane)
        if touch.product is not None:
            return name
        return f"{name.split(', thread')[0]}, warp {touch.warp % self.resident.warps_per_block}"

    def does(self, new) -> str:
        verb = {
            "mma": "multiplies with tensor memory",
            "cp": "copies to tensor memory",
            "shift": "shifts rows of tensor memory",
            "ld": "loads tensor memory",
            "st": "stores to tensor memory",
            "dealloc": "gives back tensor memory",
        }[new.kind]
        return f"{self.resident.describe(new.site)}: {self.who(new)} {verb}"

    def not_begun(self, site: int, lane: int, other: int) -> None:
        if say := self.hazards.new("missing wait", site):
            say(
                f"{self.resident.describe(site)}: {self.resident.name_lane(lane).split(', thread')[0]} allocates "
                f"tensor memory together with {self.resident.name_block(other)}, which may not have begun yet: let "
                "both meet at barrier.cluster before."
            )

    def never_written(self, new) -> None:
        verb = {"mma": "accumulates on", "shift": "shifts"}.get(new.kind, "loads")
        hint = "; the first product has to run with enable-input-d false" if new.kind == "mma" else ""
        if say := self.hazards.new("uninitialised read", new.site):
            say(
                f"{self.resident.describe(new.site)}: {self.who(new)} {verb} columns of tensor memory that nothing has "
                f"written{hint}."
            )

    def not_waited(self, old, new) -> None:
        verb = {"ld": "reading", "mma": "using", "shift": "using"}.get(old.kind, "writing")
        if say := self.hazards.new("missing wait", new.site, old.site):
            say(
                f"{self.does(new)} that {NAMES[old.kind]} at {self.resident.describe(old.site)} may still be {verb}: "
                f"{self.remedy(old)}."
            )

    def used_early(self, load, use: int) -> None:
        """Only a remark: the use of the register waits for the load by itself, as the PTX ISA says."""
        if say := self.hazards.new("early use", use, load.site, severity=SUSPICIOUS):
            say(
                f"{self.resident.describe(use)}: {self.who(load)} uses a register that tcgen05.ld at "
                f"{self.resident.describe(load.site)} loads, and no tcgen05.wait::ld stands between the two. The use "
                'itself waits for this value (PTX ISA, "Register dependencies, same thread"), but nothing else that '
                "follows waits for the load: execute tcgen05.wait::ld before the first use."
            )

    def remedy(self, old) -> str:
        """What would show that an access is done but has not happened, in words."""
        if old.product is None:
            return f"its warp has not executed tcgen05.wait::{old.kind}"
        commit = old.commit
        if commit is None:
            return "no tcgen05.commit follows it whose mbarrier could be waited for"
        return (
            f"no thread has waited for the end of phase {commit.phase} (parity {commit.phase & 1}) of the mbarrier "
            f"at shared address {commit.key[1]}, which the tcgen05.commit at {self.resident.describe(commit.site)} "
            "reports to"
        )

    def race(self, old, new) -> None:
        if old.product is not None and new.product is None:
            why = "this thread has not waited for the mbarrier of its commit, nor met a thread that has"
        else:
            why = "no barrier stands between the two"
        if say := self.hazards.new("race", new.site, old.site):
            say(f"{self.does(new)} that {NAMES[old.kind]} at {self.resident.describe(old.site)} used: {why}.")

    def not_pipelined(self, old, new) -> None:
        why = f"a {NAMES[new.kind]} may overtake the {NAMES[old.kind]} before it unless that was waited for"
        if old.kind == new.kind == "mma":
            why = "only products of one warp, accumulator, shape and kind follow each other without a wait"
        if say := self.hazards.new("missing wait", new.site, old.site):
            say(
                f"{self.does(new)} that {NAMES[old.kind]} at {self.resident.describe(old.site)} may still be using: "
                f"{why} (tcgen05.commit and its mbarrier)."
            )

    def unfenced_before(self, old, new) -> None:
        self._unfenced(
            old,
            new,
            f"{self.who(old)} has to execute tcgen05.fence::before_thread_sync after it and "
            "before the relaxed barrier that tells of it",
        )

    def unfenced_after(self, old, new) -> None:
        self._unfenced(
            old,
            new,
            f"{self.who(new)} has to execute tcgen05.fence::after_thread_sync between its wait "
            "and this instruction, which is asynchronous and not ordered after the wait by itself",
        )

    def _unfenced(self, old, new, why: str) -> None:
        if say := self.hazards.new("missing fence", new.site, old.site):
            say(f"{self.does(new)} that {NAMES[old.kind]} at {self.resident.describe(old.site)} used: {why}.")

    def arrives_late(self, load, block: int) -> None:
        if say := self.hazards.new("missing wait", load.site):
            say(
                f"{self.resident.describe(load.site)}: {self.resident.name_block(block)} ends while this commit may "
                f"still arrive at its mbarrier at shared address {load.key[1]}: before a block ends, one of its "
                "threads has to wait for the phase of every arrival from another block."
            )

    # ---- Shared memory ----

    def overwrites(self, words, access, touch) -> str:
        return (
            f"{words.here(access.site)} {access.verb} {words.place} while {NAMES[touch.kind]} at "
            f"{self.resident.describe(touch.site)} may still be reading it: {self.remedy(touch)}."
        )

    def untold(self, words, access, touch) -> None:
        if say := self.hazards.new("race", access.site, touch.site):
            say(
                f"{words.here(access.site)} {access.verb} {words.place}, which {NAMES[touch.kind]} at "
                f"{self.resident.describe(touch.site)} has read: this thread has not waited for the mbarrier of its "
                "commit, nor met a thread that has."
            )
