/** Builds the project's images with buildah and starts them with runc, for machines without a container engine. Needs root. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleConfig } from './bundle.ts';
import type {
  ContainerEngine,
  ContainerOptions,
  ImageDetails,
  Output,
  RunningContainer,
} from './engine.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const images = join(root, '.toolchain/images');
const run = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;
const stopTimeoutMs = 30_000;

interface InspectedImage {
  readonly OCIv1: {
    readonly config: {
      readonly User?: string;
      readonly Entrypoint?: readonly string[];
      readonly Cmd?: readonly string[];
      readonly Env?: readonly string[];
      readonly WorkingDir?: string;
    };
  };
}

export class RuncEngine implements ContainerEngine {
  readonly #folder: string;
  readonly #close: (() => Promise<unknown>)[] = [];
  #count = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<RuncEngine> {
    return new RuncEngine(await mkdtemp(join(tmpdir(), 'containers-')));
  }

  async build(targets: readonly string[]): Promise<void> {
    await run(join(root, '.ci/build-images'), [...targets], { maxBuffer });
  }

  async inspect(target: string): Promise<ImageDetails> {
    const [{ stdout: inspected }, { stdout: listed }] = await Promise.all([
      buildah('inspect', '--type', 'image', nameOf(target)),
      buildah('images', '--json', nameOf(target)),
    ]);
    const { config } = (JSON.parse(inspected) as InspectedImage).OCIv1;
    const [{ size } = { size: '' }] = JSON.parse(listed) as { readonly size: string }[];
    return {
      user: config.User ?? '',
      entrypoint: config.Entrypoint ?? [],
      command: config.Cmd ?? [],
      environment: config.Env ?? [],
      workingDir: config.WorkingDir ?? '/',
      megabytes: Number.parseFloat(size),
    };
  }

  async start(container: ContainerOptions): Promise<RunningContainer> {
    this.#count += 1;
    const bundle = join(this.#folder, String(this.#count));
    await mkdir(bundle);
    const image = await this.inspect(container.target);
    const { stdout } = await buildah('from', '--pull-never', nameOf(container.target));
    const working = stdout.trim();
    this.#close.push(() => buildah('rm', working));
    const rootfs = (await buildah('mount', working)).stdout.trim();
    const { seccomp } = container;
    const id = `orchestrator-${process.pid}-${this.#count}`;
    const config = bundleConfig({
      rootfs,
      image,
      container,
      seccomp: seccomp === undefined ? undefined : JSON.parse(await readFile(seccomp, 'utf8')),
      cgroup: `/${id}`,
    });
    await writeFile(join(bundle, 'config.json'), JSON.stringify(config));
    const started = new RuncContainer(id, join(this.#folder, 'runc'), bundle);
    this.#close.push(() => started.remove());
    return started;
  }

  async close(): Promise<void> {
    for (const close of this.#close.toReversed()) await close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

class RuncContainer implements RunningContainer {
  readonly exitCode: Promise<number>;
  readonly #id: string;
  readonly #state: string;
  readonly #kill: (signal: NodeJS.Signals) => boolean;
  #log = '';

  constructor(id: string, state: string, bundle: string) {
    this.#id = id;
    this.#state = state;
    const child = spawn('runc', ['--root', state, 'run', '--bundle', bundle, id], {
      // When the pipes close, the platform's processes exit. They therefore end with the test, even if the test is
      // killed.
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => (this.#log += piece.toString()));
    this.#kill = (signal) => child.kill(signal);
    this.exitCode = once(child, 'close').then(([code]) => Number(code ?? -1));
  }

  get log(): string {
    return this.#log;
  }

  async exec(...command: readonly string[]): Promise<Output> {
    const args = ['--root', this.#state, 'exec', this.#id, ...command];
    return await new Promise((resolve) => {
      execFile('runc', args, { maxBuffer }, (error, out, problem) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), text: out + problem });
      });
    });
  }

  async stop(): Promise<number> {
    this.#kill('SIGTERM');
    const late = setTimeout(() => this.#kill('SIGKILL'), stopTimeoutMs);
    try {
      return await this.exitCode;
    } finally {
      clearTimeout(late);
    }
  }

  async remove(): Promise<void> {
    await run('runc', ['--root', this.#state, 'delete', '--force', this.#id]);
    await this.exitCode;
  }
}

const nameOf = (target: string) => `localhost/script-orchestration-${target}:test`;

async function buildah(...command: readonly string[]): Promise<{ readonly stdout: string }> {
  const store = ['--root', join(images, 'storage'), '--runroot', join(images, 'run')];
  return await run('buildah', [...store, ...command], { maxBuffer });
}
