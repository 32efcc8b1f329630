def sectors(addresses):
    return len({address // 32 for address in addresses})
