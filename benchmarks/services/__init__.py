"""Questions about services that nothing was tuned on, served from data; each truth was computed from the data alone."""
