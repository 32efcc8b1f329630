def bank(address):
    return address // 4 % 32
