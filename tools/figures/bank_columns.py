"""Shared memory as 32 columns: where the words and the bytes of its first addresses lie."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.banks import BANK_BYTES, BANKS

ROWS = 4
COLUMNS = (0, 1, 2, 3, None, 29, 30, 31)  # None: those between
LIT = 33  # a word that is used as an example


def bank_columns():
    """The first 128 words on the 32 banks, row after row, with the byte addresses of each row."""
    page = Sheet(3.5)
    left, top, w, h = 1.95, 1.2, 0.7, 0.4
    page.text(left - 0.15, top - 0.22, "bank", ha="right", colour=style.MUTED)
    for column, bank in enumerate(COLUMNS):
        x = left + (column + 0.5) * w
        page.text(x, top - 0.22, "…" if bank is None else str(bank), bold=True)
        for row in range(ROWS):
            y = top + row * h
            if bank is None:
                page.text(x, y + h / 2, "…", colour=style.MUTED)
                continue
            word = row * BANKS + bank
            fill = style.tint(style.SKY, 0.6) if word == LIT else style.PAPER
            page.labelled(left + column * w, y, w, h, str(word), fill=fill, edge=style.UNLIT_EDGE, radius=0)
    for row in range(ROWS):
        first = row * BANKS * BANK_BYTES
        words = f"bytes {first} to {first + BANKS * BANK_BYTES - 1}"
        page.text(left - 0.15, top + (row + 0.5) * h, words, ha="right", colour=style.MUTED)
    page.text(0.3, 0.4, "Words of 4 bytes, dealt out to 32 banks in turn", ha="left", bold=True, size=style.BODY)
    byte = LIT * BANK_BYTES
    page.text(
        left,
        top + ROWS * h + 0.28,
        f"word {LIT} holds the bytes {byte} to {byte + BANK_BYTES - 1}; it lies in bank {LIT % BANKS}",
        ha="left",
    )
    return page.fig
