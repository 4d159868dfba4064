"""An API document becomes a Protocol."""
