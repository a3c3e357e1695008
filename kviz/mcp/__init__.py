"""kviz for an assistant: a Model Context Protocol server with the answers of the command line.

    tools --asking--> `kviz COMMAND --json`, a separate process --answers--> a short document

It reads the clusters that it was started with and writes nothing (docs/mcp.md).
"""
