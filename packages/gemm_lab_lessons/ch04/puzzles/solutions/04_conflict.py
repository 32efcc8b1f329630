def bank(address):
    return address // 4 % 32


def conflict(a, b):
    return bank(a) == bank(b) and a // 4 != b // 4
