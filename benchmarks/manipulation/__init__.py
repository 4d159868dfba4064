"""The tool-manipulation suite of Xu et al. (arXiv:2305.16504): eight interactive tools, executed for real."""
