"""How well questions are answered: task files, metrics, a runner that goes on after a stop, and `atc bench`."""
