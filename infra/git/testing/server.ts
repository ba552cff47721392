/** A Git server for tests. Runs `git http-backend` behind an HTTP server on a loopback address, with repositories made
 *  by `git`. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

export interface TestRepository {
  readonly url: string;
  /** The folder of the repository on the server. */
  readonly bare: string;
  /** The working tree. */
  readonly folder: string;
  /** Runs `git` in the working tree. @returns the output, trimmed */
  git(...args: readonly string[]): Promise<string>;
  /** Writes files, or deletes files whose content is `null`. Commits and pushes the change. @returns the commit hash */
  commit(files: Readonly<Record<string, string | null>>, subject?: string): Promise<string>;
}

export interface TestGitServer {
  /** The requests, without their bodies. */
  readonly requests: readonly string[];
  /** The only accepted `Authorization` header. If undefined, any header is accepted. */
  authorization: string | undefined;
  /** Called before a push is processed. */
  beforePush: (() => Promise<void>) | undefined;
  /** Whether the server processes pushes but closes the connection instead of responding. */
  losesReplies: boolean;
  refusesPushes: boolean;
  repository(name: string): Promise<TestRepository>;
  close(): Promise<void>;
}

export async function startGitServer(): Promise<TestGitServer> {
  const root = await mkdtemp(join(tmpdir(), 'git-server-'));
  const requests: string[] = [];
  const test: Pick<
    TestGitServer,
    'authorization' | 'beforePush' | 'losesReplies' | 'refusesPushes'
  > = {
    authorization: undefined,
    beforePush: undefined,
    losesReplies: false,
    refusesPushes: false,
  };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const given = request.headers.authorization;
    if (test.authorization !== undefined && given !== test.authorization) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
      return;
    }
    const isPush = request.method === 'POST' && request.url?.endsWith('/git-receive-pack') === true;
    if (isPush && test.refusesPushes) {
      response.writeHead(403).end();
      return;
    }
    const process = () => serve(root, request, response, isPush && test.losesReplies);
    if (isPush && test.beforePush !== undefined) void test.beforePush().then(process);
    else process();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(test, {
    requests,
    repository: (name: string) =>
      createRepository(root, name, `http://127.0.0.1:${port}/${name}.git`),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(root, { recursive: true, force: true });
    },
  });
}

async function createRepository(root: string, name: string, url: string): Promise<TestRepository> {
  const bare = join(root, `${name}.git`);
  const folder = join(root, `${name}-work`);
  const run = async (cwd: string, args: readonly string[]) => {
    const { stdout } = await execute('git', args, { cwd, env: environment });
    return stdout.trim();
  };
  await run(root, ['init', '--quiet', '--bare', '--initial-branch=main', bare]);
  await run(bare, ['config', 'http.receivepack', 'true']);
  await run(root, ['init', '--quiet', '--initial-branch=main', folder]);
  await run(folder, ['remote', 'add', 'origin', bare]);
  const git = (...args: readonly string[]) => run(folder, args);
  return {
    url,
    bare,
    folder,
    git,
    commit: async (files, subject = 'Change files') => {
      for (const [path, content] of Object.entries(files)) {
        const file = join(folder, path);
        if (content === null) await rm(file);
        else {
          await mkdir(dirname(file), { recursive: true });
          await writeFile(file, content);
        }
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '-m', subject);
      await git('push', '--quiet', '--force', 'origin', 'HEAD:main');
      return await git('rev-parse', 'HEAD');
    },
  };
}

/** Passes a request to the CGI program (RFC 3875). */
function serve(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  losesReply: boolean,
): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...environment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.once('close', () => {
    if (losesReply) {
      response.destroy();
      return;
    }
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer.subarray(0, end).toString('latin1').split('\r\n');
    let status = 200;
    for (const header of headers) {
      const [name = '', value = ''] = header.split(/: (.*)/s);
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else if (name !== '') response.setHeader(name, value);
    }
    response.writeHead(status).end(answer.subarray(end + 4));
  });
}
