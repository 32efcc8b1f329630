def stored_at(thread):
    m, k = thread // 16, thread % 16
    return 4 * (k * 129 + m)
