"""`Environment`: its packages, its image, its registration and its builds."""
