"""Things to play with in a notebook. Each shows a still picture of itself where no kernel runs."""
