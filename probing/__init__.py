"""Learn an API by calling it: `probing.prober.prober.Prober(protocol).probe()`, and `atc probe`."""
