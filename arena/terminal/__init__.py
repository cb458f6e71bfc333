"""What a person sees and presses in a terminal."""
