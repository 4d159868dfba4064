"""HTML pages of solutions: templates and styles that `atc trace` and `atc report` share."""
