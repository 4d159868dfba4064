"""Trip Booking: tickets, hotel rooms, or both."""
