"""What people start: the commands, terminal views, servers, pages and traces; readers of events and solutions."""
