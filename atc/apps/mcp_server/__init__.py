"""An API's tools, programs over them and answers, for any client of the Model Context Protocol: `atc mcp serve`."""
