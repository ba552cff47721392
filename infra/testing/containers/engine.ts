/** The interface for running containers in tests of the production images. */
import type { OptionalService } from '../../../scripts/testing/optional-service.ts';
import { findProgram } from '../find-program.ts';

/** The definition of one container in compose.yaml, with a test's addresses. The container shares the machine's
 *  network. */
export interface ContainerOptions {
  /** The build target in the Dockerfile. */
  readonly target: string;
  /** Replaces the command of the image. */
  readonly command: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders of the host that are mounted in the container. */
  readonly mounts: readonly Mount[];
  readonly tmpfs: readonly string[];
  readonly capabilities: readonly string[];
  readonly readOnly: boolean;
  /** The path of a seccomp profile in Docker's format. */
  readonly seccomp: string | undefined;
  /** Whether to show all of `/proc` and `/sys`. */
  readonly unmasked: boolean;
}

export interface Mount {
  readonly source: string;
  readonly path: string;
  readonly writable: boolean;
}

export interface ImageDetails {
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: readonly string[];
  readonly workingDir: string;
  readonly megabytes: number;
}

export interface Output {
  readonly code: number;
  readonly text: string;
}

export interface RunningContainer {
  /** The standard output and standard error so far. */
  readonly log: string;
  /** Resolves when the container exits. */
  readonly exitCode: Promise<number>;
  exec(...command: readonly string[]): Promise<Output>;
  /** Stops the container like `docker stop`. @returns its exit code */
  stop(): Promise<number>;
}

export interface ContainerEngine {
  /** Builds these targets of the project's Dockerfile from the current files. */
  build(targets: readonly string[]): Promise<void>;
  inspect(target: string): Promise<ImageDetails>;
  start(options: ContainerOptions): Promise<RunningContainer>;
  /** Stops and removes every container of this engine. */
  close(): Promise<void>;
}

const programs = ['buildah', 'runc', 'mmdebstrap'];
const missing = programs.filter((name) => findProgram(name, ['/usr/sbin']) === undefined);

/** Programs that build and run images without a container engine's daemon. */
export const imageTools: OptionalService = {
  service: 'image tools',
  found: missing.length === 0 && process.getuid?.() === 0 ? 'buildah' : undefined,
  reason:
    missing.length === 0
      ? 'buildah and runc need root (sudo make test ARGS=infra/deploy/images)'
      : `no ${missing.join(', ')} on this machine (Debian: apt-get install ${missing.join(' ')})`,
};
