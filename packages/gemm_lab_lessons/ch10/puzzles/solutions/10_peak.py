def peak(mhz, sms):
    return 4096 * sms * mhz * 1e6 / 1e12
