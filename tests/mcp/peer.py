"""An MCP client by the protocol's authors: peer.py URL TOKEN_FILE MODE CALL...

Lists the tools, makes each CALL (TOOL=JSON), and prints what came of it, a line each.
MODE is the SDK's word for the protocol: legacy has sessions, auto the newest there is.
"""

import asyncio
import json
import sys
from pathlib import Path

import httpx2
from mcp.client.streamable_http import streamable_http_client

from mcp import Client


def told(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


async def main(url: str, token: str, mode: str, calls: list[str]) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=300) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        for tool in (await client.list_tools()).tools:
            annotations = tool.annotations
            told(
                tool=tool.name,
                read_only=annotations and annotations.read_only_hint,
                arguments=sorted(tool.input_schema.get("properties", {})),
            )
        for call in calls:
            name, _, arguments = call.partition("=")
            result = await client.call_tool(name, json.loads(arguments or "{}"))
            told(
                called=name,
                failed=bool(result.is_error),
                kinds=[content.type for content in result.content],
                text="".join(c.text for c in result.content if c.type == "text"),
            )


url, token_file, mode, *calls = sys.argv[1:]
asyncio.run(main(url, Path(token_file).read_text().strip(), mode, calls))
