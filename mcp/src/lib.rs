//! Serves tools over MCP on loopback.
