"""`onrecord mcp`: a Model Context Protocol server for agents, on the standard streams.

A client starts it with every session, so only what the first messages need is imported at the top of its modules.
"""
