"""What the exercises of these chapters ask of a kernel beyond a right result."""
