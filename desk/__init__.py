"""The server-rendered pages for people."""
