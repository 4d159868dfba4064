"""How an API is learned by trying it: `probing.prober.prober.Prober(protocol).probe()`, and `atc probe`."""
