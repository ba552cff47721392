import type { EditorView } from '@codemirror/view';
import { toastDone } from '#lib/ui/toasts.ts';
import type { OpenFile } from '../open-file.svelte.ts';
import type { SourceFile } from '../search/find-in-files.ts';
import type { LanguageServer } from './language-server.ts';

/** The editor's files, as the language integration accesses them. */
export interface LanguageHost {
  readonly openFiles: readonly OpenFile[];
  /** Returns all text files, including unsaved edits. */
  sources(): Promise<SourceFile[]>;
  /** Shows a file. @returns the file's editor, or null if the file does not exist */
  display(path: string): Promise<EditorView | null>;
}

/** Starts the language server for a script's files on demand. */
export class ProjectLanguage {
  readonly #host: LanguageHost;
  #server: LanguageServer | null = null;
  #isWanted = false;

  constructor(host: LanguageHost) {
    this.#host = host;
  }

  /** Starts the server once. All Python files that are open now or opened later are connected to it. */
  async start(): Promise<void> {
    if (this.#isWanted || !this.#host.openFiles.some(isPython)) return;
    this.#isWanted = true;
    const [{ startLanguageServer }, files] = await Promise.all([
      import('./language-server.ts'),
      this.#host.sources(),
    ]);
    const server = await startLanguageServer({
      sources: Object.fromEntries(files.filter(isPython).map(({ path, text }) => [path, text])),
      show: (path) => this.#host.display(path),
      onForeign: (name) => toastDone(`Defined in ${name}`),
    });
    // The user may have left the page while the server was starting.
    if (!this.#isWanted) return server.stop();
    this.#server = server;
    for (const file of this.#host.openFiles) this.connect(file);
  }

  /** Connects a Python file to the server, if the server has started. */
  connect(file: OpenFile): void {
    if (this.#server && isPython(file)) file.useLanguage(this.#server.extensionFor(file.path));
  }

  /** Stops the server. */
  stop(): void {
    this.#isWanted = false;
    this.#server?.stop();
    this.#server = null;
  }
}

function isPython({ path }: { readonly path: string }): boolean {
  return path.endsWith('.py');
}
