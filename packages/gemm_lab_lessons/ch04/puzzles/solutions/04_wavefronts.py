def wavefronts(addresses):
    asked = {}  # bank: the different words that it is asked for
    for address in addresses:
        word = address // 4
        asked.setdefault(word % 32, set()).add(word)
    return max(len(words) for words in asked.values())
