"""How an API is learned by trying it: `probing.prober.Prober(protocol).probe()`, and `atc probe`."""
