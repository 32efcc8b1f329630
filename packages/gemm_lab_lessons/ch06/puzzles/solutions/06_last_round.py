def last_round(tiles, places):
    return (tiles - 1) % places + 1
