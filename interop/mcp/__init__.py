"""The Model Context Protocol: memory as tools, resources and prompts, over stdio and streamable HTTP.

The official SDK implements both versions of the protocol. The handlers call the tools of ``/api/v1/tools/``, the memory
block and the change feed.
"""
