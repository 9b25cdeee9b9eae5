"""The entrance for agents with the Model Context Protocol: `onrecord mcp`, a server on the standard streams.

A client starts it with every session, so only what the first messages need is imported at the top of its modules.
"""
