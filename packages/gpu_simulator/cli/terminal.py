"""How a command of a terminal ends: an exit code, and a sentence instead of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable

from gpu_simulator.cli.formats import exit_code_of
from gpu_simulator.errors import SimulatorError


def exit_code(program: str, command: Callable[[], int]) -> int:
    """Run `command` and return its exit code. An error is a sentence on stderr.

    Its code is 1 for what a simulated kernel did wrong, 2 for any other, and 130 for Ctrl-C.
    program: the name that the sentence begins with.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # characters that the terminal lacks, such as “×”, become “?”
    try:
        return command()
    except SimulatorError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return exit_code_of(error)
    except KeyboardInterrupt as stop:  # a launch says where its threads were
        print(f"{program}: stopped{f': {stop}' if str(stop) else ''}.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
