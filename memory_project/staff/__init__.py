"""The staff's side: the admin site with its door, its sidebar and its first page."""
