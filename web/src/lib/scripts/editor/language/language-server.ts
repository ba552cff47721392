/** Runs basedpyright in the browser for completion, documentation and definitions. Import this module dynamically,
 *  because the language server is large. */
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

/** On a slow machine, the first response takes this long, because the server must load first. */
const timeoutMs = 60_000;
const root = `file://${sourceFolder}`;

export interface LanguageServer {
  /** The editor extension for a Python file. */
  extensionFor(path: string): Extension;
  stop(): void;
}

export interface LanguageServerOptions {
  /** The script's Python files by path. */
  readonly sources: Readonly<Record<string, string>>;
  /** Shows a file of the script in the editor; resolves to null if the file cannot be shown. */
  readonly show: (path: string) => Promise<EditorView | null>;
  /** Called when a definition is outside the script. @param where the name of the module */
  readonly onForeign: (where: string) => void;
}

/** Starts the language server. The server analyzes the sources but never executes them. */
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
    // Ignores the server's log messages, which are meant for its developers.
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

/** Returns the module name for a file of the standard library or the SDK. */
function foreignName(uri: string): string {
  const path = uri.replace(/^.*\/(typeshed\/stdlib|typeshed\/stubs\/[^/]+|sdk)\//, '');
  return path.replace(/(\/__init__)?\.pyi?$/, '').replaceAll('/', '.');
}
