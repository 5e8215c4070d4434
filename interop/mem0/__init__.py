"""The API of mem0's platform, as its clients send it, over the same memories: they are given another host."""
