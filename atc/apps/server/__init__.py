"""`atc serve`: solves over HTTP, each recorded before it is accepted, in several processes.

One process takes the requests (`app`), writes them down (`store`) and hands them to solver processes (`pool`,
`solver`). It alone writes the store, so limits, idempotency and metrics need no agreement between processes.
"""
