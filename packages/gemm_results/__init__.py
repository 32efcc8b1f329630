"""What was recorded, counted, printed and predicted: rows of `results/`, and cards and plots of them."""
