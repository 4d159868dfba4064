"""How an API is learned by trying it: the right place for probers, which may use everything but the benchmarks."""
