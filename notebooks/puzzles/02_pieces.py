def pieces(addresses, size):
    return len({address // size for address in addresses})
