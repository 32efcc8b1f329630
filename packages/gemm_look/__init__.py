"""The look of tables, cards and plots: colours, HTML, a style. It imports no other package of this project."""
