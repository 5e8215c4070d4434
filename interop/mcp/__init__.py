"""The Model Context Protocol: memory as tools, resources and prompts, over stdio and streamable HTTP.

The official SDK speaks the protocol, in both of its generations; what is done is what the tools of ``/api/v1/tools/``,
the memory block and the change feed do.
"""
