def turn_of_the_ring():
    return ["wait", "multiply", "drain", "barrier", "copy"]
