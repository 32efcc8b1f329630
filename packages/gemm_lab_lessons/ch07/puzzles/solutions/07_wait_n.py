def wait_n(closed, needed):
    return closed - 1 - needed
