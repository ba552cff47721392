/** Creates the protocol server that handles one request of a caller. */
import {
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type JsonSchemaType,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { TSchema } from 'typebox';
import { Api, ApiProblem, fileParts, part } from '#services/shared/api-client.ts';
import type { Effect, Tool } from './tool.ts';
import { tools } from './tools/registry.ts';

export interface ServerDeps {
  readonly backendUrl: string;
  readonly version: string;
}

/** The introduction for the model. */
const instructions =
  'A script is a versioned folder of Python files, and a run executes one version. Use these tools to ' +
  'find scripts, read and write their files, run them and read their logs. The complete history is ' +
  'kept: with a time or position from script_history, the tools show files and settings at that point ' +
  'in time.';

/** @param token the caller's token, whose rights apply to every tool */
export function mcpServer(deps: ServerDeps, token: string): McpServer {
  const api = new Api(deps.backendUrl, token, { client: 'mcp' });
  const server = new McpServer(
    { name: 'script-orchestration-service', version: deps.version },
    { instructions },
  );
  for (const { tool, definition } of definitions) {
    const { name } = tool;
    const answer = async (given: object, context: ServerContext) =>
      await answerOf(tool, given, context, api);
    server.registerTool(name, definition, answer);
  }
  addResources(server, api);
  return server;
}

/** The schemas are compiled once, because compiling takes milliseconds and the validator keeps each compiled schema. */
const definitions = tools.map((tool) => {
  const { title, description, input, output, effect } = tool;
  const inputSchema = schemaOf({ ...input, additionalProperties: false });
  const outputSchema = schemaOf(output);
  const annotations = annotationsOf(effect);
  return { tool, definition: { title, description, inputSchema, outputSchema, annotations } };
});

function schemaOf(schema: TSchema) {
  return fromJsonSchema<object>(JSON.parse(JSON.stringify(schema)) as JsonSchemaType);
}

function annotationsOf(effect: Effect): ToolAnnotations {
  return {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'replaces',
    // The tools can access only this platform.
    openWorldHint: false,
  };
}

/** API refusals are results, not server failures, because the caller can correct the request. */
async function answerOf(
  tool: Tool,
  given: object,
  { mcpReq }: ServerContext,
  api: Api,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  try {
    const answer = await tool.handle(given as never, {
      api,
      signal: mcpReq.signal,
      progress: async (progress, total, message) => {
        if (progressToken === undefined) return;
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, message, ...(total !== undefined && { total }) },
        });
      },
    });
    return {
      content: [{ type: 'text', text: JSON.stringify(answer) }],
      structuredContent: answer as Record<string, unknown>,
    };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const text = `${error.code}: ${error.message}`;
    return { isError: true, content: [{ type: 'text', text }] };
  }
}

/** Adds files and logs as resources, for clients that attach resources to a conversation. */
function addResources(server: McpServer, api: Api): void {
  server.registerResource(
    'file',
    new ResourceTemplate('orch://scripts/{script_id}/files/{+path}', { list: undefined }),
    {
      title: 'A script file',
      description: 'The current text of the file.',
      mimeType: 'text/plain',
    },
    async (uri, { script_id: scriptId, path }) => {
      const file = `/scripts/${part(String(scriptId))}/files/${fileParts(String(path))}`;
      return contents(uri, (await api.text(file)).body);
    },
  );
  server.registerResource(
    'log',
    new ResourceTemplate('orch://runs/{run_id}/log', { list: undefined }),
    { title: 'The log of a run', description: 'The complete log.', mimeType: 'text/plain' },
    async (uri, { run_id: runId }) => {
      const log = `/runs/${part(String(runId))}/logs`;
      return contents(uri, (await api.text(log, { query: { format: 'text' } })).body);
    },
  );
}

function contents(uri: URL, text: string) {
  return { contents: [{ uri: uri.href, mimeType: 'text/plain', text }] };
}
