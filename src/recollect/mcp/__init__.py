"""The entrance for agents that speak the Model Context Protocol: `recollect mcp`, a server on the standard streams.

A client starts it with every session, so only what the first messages need is imported at the top of its modules.
"""
