/** Ready-to-copy MCP server configurations for AI clients. */
const name = 'scripts';

interface Client {
  /** The instruction shown above the text, such as "Run this command:". */
  readonly where: string;
  readonly text: (url: string, token: string) => string;
}

const json = (value: object): string => JSON.stringify(value, null, 2);
const headers = (token: string) => ({ Authorization: `Bearer ${token}` });

export const clients = {
  'Claude Code': {
    where: 'Run this command:',
    text: (url, token) =>
      `claude mcp add --transport http ${name} ${url} \\
  --header "Authorization: Bearer ${token}"`,
  },
  Cursor: {
    where: 'Add to .cursor/mcp.json in your project or home directory:',
    text: (url, token) => json({ mcpServers: { [name]: { url, headers: headers(token) } } }),
  },
  'VS Code': {
    where: 'Add to .vscode/mcp.json:',
    text: (url, token) =>
      json({ servers: { [name]: { type: 'http', url, headers: headers(token) } } }),
  },
  Others: {
    where: 'Add to your client’s MCP configuration (Streamable HTTP transport):',
    text: (url, token) =>
      json({ mcpServers: { [name]: { type: 'http', url, headers: headers(token) } } }),
  },
} as const satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];

/** Stands for the token until the user has created one. */
export const tokenPlaceholder = 'orch_…';
