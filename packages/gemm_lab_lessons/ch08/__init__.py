"""Notebook 08: the ladder of the RTX 5090: TMA and mbarriers."""
