import { LSPPlugin, Workspace, type LSPClient, type WorkspaceFile } from '@codemirror/lsp-client';
import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

interface ProjectFile extends WorkspaceFile {
  doc: Text;
  version: number;
  /** The editor that shows the file, or null while the file is hidden. */
  view: EditorView | null;
}

/** The script files that the user has opened. The language server keeps their edited content while they are hidden. */
export class ProjectWorkspace extends Workspace {
  override files: ProjectFile[] = [];
  readonly #show: (uri: string) => Promise<EditorView | null>;

  /** @param show opens a file in the editor; resolves to null if the file cannot be opened */
  constructor(client: LSPClient, show: (uri: string) => Promise<EditorView | null>) {
    super(client);
    this.#show = show;
  }

  override syncFiles() {
    return this.files.flatMap((file) => {
      const plugin = file.view && LSPPlugin.get(file.view);
      if (!file.view || !plugin || plugin.unsyncedChanges.empty) return [];
      const update = { file, prevDoc: file.doc, changes: plugin.unsyncedChanges };
      file.doc = file.view.state.doc;
      file.version += 1;
      plugin.clear();
      return [update];
    });
  }

  override openFile(uri: string, languageId: string, view: EditorView): void {
    const { doc } = view.state;
    const known = this.files.find((file) => file.uri === uri);
    if (known) {
      known.view = view;
      this.#replace(known, doc);
      return;
    }
    const file = { uri, languageId, version: 0, doc, view, getView: () => file.view };
    this.files.push(file as ProjectFile);
    this.client.notification('pyright/createFile', { uri });
    this.client.didOpen(file);
  }

  override closeFile(uri: string, view: EditorView): void {
    const file = this.files.find((one) => one.uri === uri);
    if (file?.view === view) file.view = null;
  }

  override displayFile(uri: string): Promise<EditorView | null> {
    return this.#show(uri);
  }

  /** Sends the content if it changed while no editor was connected to the file. */
  #replace(file: ProjectFile, doc: Text): void {
    if (file.doc.eq(doc)) return;
    file.doc = doc;
    file.version += 1;
    this.client.notification('textDocument/didChange', {
      textDocument: { uri: file.uri, version: file.version },
      contentChanges: [{ text: doc.toString() }],
    });
  }
}
