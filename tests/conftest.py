"""For all tests: an interrupt interrupts, also where a shell started the tests in the background and had it ignored."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
