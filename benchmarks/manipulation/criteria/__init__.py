"""Home Search and Trip Booking: functions set criteria one by one, and a last one submits them."""
