/** Returns the URL and health of the MCP server. */
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { Exact } from '../http/schema.ts';

const timeoutMs = 1_000;

const McpInfo = Exact(
  {
    status: Type.Enum(['up', 'down'], {
      description: 'Whether the MCP server is reachable from the backend.',
    }),
    url: Type.String({ description: 'Endpoint for clients, as configured in the backend.' }),
    transport: Type.String(),
    authentication: Type.String(),
  },
  {
    title: 'McpInfo',
    examples: [
      {
        status: 'up',
        url: 'http://127.0.0.1:8010/mcp',
        transport: 'streamable-http',
        authentication: 'bearer',
      },
    ],
  },
);

const info = operation({
  method: 'get',
  path: '/api/v1/mcp/info',
  operationId: 'mcpInfo',
  summary: 'Read the status of the MCP server',
  description:
    "Clients authenticate with an API token. The token's scopes and its owner's rights determine " +
    'which tools are allowed.',
  tag: 'System',
  access: { right: 'system.read' },
  responses: { 200: { description: 'The MCP server.', schema: McpInfo } },
  handle: async (_call, { mcpUrl }) => {
    const isUp = await fetch(new URL('/health', mcpUrl), {
      signal: AbortSignal.timeout(timeoutMs),
    })
      .then((answer) => answer.ok)
      .catch(() => false);
    return json(200, {
      status: isUp ? 'up' : 'down',
      url: new URL('/mcp', mcpUrl).href,
      transport: 'streamable-http',
      authentication: 'bearer',
    });
  },
});

export const mcpOperations: readonly Operation[] = [info];
