def walk(first, along, down):
    return (first ^ 16 * along) + 8 * 128 * down
