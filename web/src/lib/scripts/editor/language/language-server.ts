/** Completion, documentation and definitions from basedpyright, which runs in the browser. Import this module
 *  dynamically: the server is large. */
import {
  findReferencesKeymap,
  hoverTooltips,
  jumpToDefinitionKeymap,
  LSPClient,
  renameKeymap,
  serverCompletion,
  signatureHelp,
} from '@codemirror/lsp-client';
import type { Extension } from '@codemirror/state';
import { keymap, type EditorView } from '@codemirror/view';
import { ProjectWorkspace } from './project-workspace.ts';
import { sanitizeHtml } from './sanitize.ts';
import { sdkSources } from './sdk-sources.ts';
import { sdkFolder, sourceFolder, startServer } from './transport.ts';

/** Long enough for the first response on a slow machine: this response waits until the server has loaded. */
const timeoutMs = 60_000;
const root = `file://${sourceFolder}`;

export interface LanguageServer {
  /** The editor's extension for a Python file. */
  extensionFor(path: string): Extension;
  stop(): void;
}

export interface LanguageServerOptions {
  /** The Python files of the script by path. */
  readonly sources: Readonly<Record<string, string>>;
  /** Shows a file of the script; null if it cannot be shown. */
  readonly show: (path: string) => Promise<EditorView | null>;
  /** Called when a definition is in a file that is not part of the script. */
  readonly onForeign: (where: string) => void;
}

/** Starts the server. It analyzes the sources and never executes them. */
export async function startLanguageServer({
  sources,
  show,
  onForeign,
}: LanguageServerOptions): Promise<LanguageServer> {
  const connection = startServer();
  const files = { ...inFolder(sourceFolder, sources), ...inFolder(sdkFolder, await sdkSources()) };
  const display = async (uri: string): Promise<EditorView | null> => {
    const path = decodeURI(uri);
    if (path.startsWith(`${root}/`)) return await show(path.slice(root.length + 1));
    onForeign(foreignName(path));
    return null;
  };
  const client = new LSPClient({
    rootUri: root,
    timeout: timeoutMs,
    initializationOptions: { files },
    sanitizeHTML: sanitizeHtml,
    workspace: (self) => new ProjectWorkspace(self, display),
    // The server's log messages are meant for its developers, so they are ignored.
    notificationHandlers: { 'window/logMessage': () => true, 'window/showMessage': () => true },
    extensions: [
      { clientCapabilities: { workspace: { configuration: true } } },
      serverCompletion({ override: true }),
      hoverTooltips(),
      signatureHelp(),
      keymap.of([...jumpToDefinitionKeymap, ...findReferencesKeymap, ...renameKeymap]),
    ],
  }).connect(connection);
  await client.initializing;
  return {
    extensionFor: (path) => client.plugin(`${root}/${encodeURI(path)}`, 'python'),
    stop: () => connection.stop(),
  };
}

function inFolder(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]),
  );
}

/** The module in a file of the standard library or of the SDK. */
function foreignName(uri: string): string {
  const path = uri.replace(/^.*\/(typeshed\/stdlib|typeshed\/stubs\/[^/]+|sdk)\//, '');
  return path.replace(/(\/__init__)?\.pyi?$/, '').replaceAll('/', '.');
}
