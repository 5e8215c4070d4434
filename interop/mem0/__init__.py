"""mem0's platform API over Keepsake's memories: its clients only need another host."""
