"""The Model Context Protocol: the operations of the API as tools, at POST /mcp.

`door` knows HTTP, `exchange` the official SDK, `tool` what a tool is; the other modules hold the
tools by what they are about. A tool calls the API's own operation, so that both doors give the
same answer. The SDK is imported when the first message arrives: pages do not pay for it.
"""
