"""Google Sheets: an in-memory spreadsheet with the interface of gspread 5, and tasks on small tables."""
