"""Swagger 2.0 documents are rewritten as OpenAPI 3.0, so that everything after reads one form."""
