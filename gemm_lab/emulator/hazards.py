"""placeholder"""


class Hazards:
    def __init__(self, launch):
        self.found = []

    def chunk(self, chunk):
        return None
