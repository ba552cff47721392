/** Connects to the language server, which runs in two web workers. */
import type { Transport } from '@codemirror/lsp-client';
import workerUrl from 'browser-basedpyright/dist/pyright.worker.js?url';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
}

/** The server's request to create its second worker. The page creates the worker, because some browsers do not support
 *  nested workers. */
interface NewWorker {
  readonly type: 'browser/newWorker';
  readonly initialData: unknown;
  readonly port: MessagePort;
}

export interface ServerConnection extends Transport {
  /** Terminates the workers. */
  stop(): void;
}

/** Folders in the server's virtual file system. */
export const sourceFolder = '/src';
export const sdkFolder = '/sdk';

/** Disables diagnostics, because Ruff already reports problems. */
const analysis = {
  typeCheckingMode: 'off',
  diagnosticMode: 'openFilesOnly',
  autoSearchPaths: true,
  autoImportCompletions: false,
  logLevel: 'Error',
  typeshedPaths: ['/typeshed'],
  extraPaths: [sdkFolder],
};

export function startServer(): ServerConnection {
  const handlers = new Set<(text: string) => void>();
  const workers: Worker[] = [];
  const start = (boot: object, transfer: Transferable[] = []): Worker => {
    const worker = new Worker(workerUrl);
    workers.push(worker);
    worker.postMessage({ type: 'browser/boot', ...boot }, transfer);
    return worker;
  };
  const server = start({ mode: 'foreground' });
  server.addEventListener('message', ({ data }: MessageEvent<Message | NewWorker>) => {
    if ('type' in data) {
      const { initialData, port } = data;
      start({ mode: 'background', initialData, port }, [port]);
    } else if (data.id !== undefined && data.method !== undefined) {
      server.postMessage({ jsonrpc: '2.0', id: data.id, result: answerTo(data) });
    } else {
      const text = JSON.stringify(data);
      for (const handle of handlers) handle(text);
    }
  });
  return {
    send: (text) => server.postMessage(JSON.parse(text)),
    subscribe: (handle) => void handlers.add(handle),
    unsubscribe: (handle) => void handlers.delete(handle),
    stop: () => workers.forEach((worker) => worker.terminate()),
  };
}

/** Answers the server's requests for its settings. */
function answerTo({ method, params }: Message): unknown {
  if (method !== 'workspace/configuration') return null;
  const { items } = params as { readonly items: readonly { readonly section?: string }[] };
  return items.map(({ section }) => (section?.endsWith('analysis') ? analysis : {}));
}
