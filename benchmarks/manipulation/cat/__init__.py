"""The Cat API: one GET, POST or DELETE to a service on localhost that has pictures and an account."""
