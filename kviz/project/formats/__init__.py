"""How numbers are written where Django's own formats differ from those of a browser."""
