"""What responses hold: as documented, as observed, and where that is kept."""
