"""Open Weather: one GET to a service on localhost, whose weather follows from the place."""
