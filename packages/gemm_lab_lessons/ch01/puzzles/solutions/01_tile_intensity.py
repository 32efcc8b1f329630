def tile_intensity(bm, bn):
    return bm * bn / (bm + bn)
