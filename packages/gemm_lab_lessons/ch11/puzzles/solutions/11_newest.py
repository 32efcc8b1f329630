def newest(committed, needed):
    return committed - 1 - needed
