/** Prepares a run: its files, its environment, and the limits of its sandbox. */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EnvironmentLocks } from '#domain/ports/environment-locks.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { entrypointArgument } from './entrypoint-argument.ts';
import type { Environments } from './environments/environments.ts';
import { readRequirements } from './environments/requirements.ts';
import type { Preparation } from './execution-deps.ts';
import type { Interpreters } from './interpreters.ts';
import { lockedEnvironment } from './locked-environment.ts';
import type { RunLog } from './logs/run-log.ts';
import { makeOwnFolder } from './own-folders.ts';
import { writePayload, type PayloadFile } from './payload-file.ts';
import { asResident, residentRun } from './resident-run.ts';
import { runVariables, workspaceVariables } from './run-variables.ts';
import type { RunSecrets } from './secrets/run-secrets.ts';
import type { Sdk } from './sdk/open.ts';
import { sdkFolder } from './sdk/package.ts';
import type { Python } from './sandbox/python.ts';
import type { RunFile, RunSpec, SdkEntry } from './sandbox/sandbox.ts';
import type { Snapshots } from './snapshots.ts';
import type { WarmStarts } from './warm/warm-start.ts';
import type { WantedPackages } from './wanted-packages.ts';

const noParameters = '{}';
const paramsRemoved = "The run's parameters or payload were removed by retention.";

export interface PreparationDeps {
  readonly interpreters: Interpreters;
  readonly snapshots: Snapshots;
  readonly wantedPackages: WantedPackages;
  readonly environments: Environments;
  readonly locks: EnvironmentLocks;
  readonly warmStarts: WarmStarts;
  readonly secrets: Pick<RunSecrets, 'environmentOf' | 'revisionOf' | 'forget'>;
  readonly sdk: Sdk;
  /** Returns parameters as JSON text by their hash, or `undefined` if they have been removed. */
  readonly parameters: (sha256: string) => Promise<string | undefined>;
  /** Returns the webhook call by its hash, or `undefined` if it has been removed. */
  readonly payload: (sha256: string) => Promise<Buffer | undefined>;
  /** The folder for persistent script data, with one folder per script. */
  readonly dataFolder: string;
  /** The folder for copies of scripts during builds, with one folder per script. */
  readonly projectsFolder: string;
  /** Paths that are hidden from all scripts. */
  readonly hidden: readonly string[];
  /** TCP ports on which no run may listen, because the platform's own processes use these ports. */
  readonly platformPorts: readonly number[];
  readonly leaseMs: number;
  readonly stopGraceMs: number;
}

/** Builds the environment if necessary. Output goes to the log. */
export async function prepareRun(
  deps: PreparationDeps,
  run: ClaimedRun,
  log: RunLog,
  signal: AbortSignal,
): Promise<Preparation> {
  const taken = run.listenPorts.find((port) => deps.platformPorts.includes(port));
  if (taken !== undefined) {
    const detail = `The platform itself uses port ${taken}. Remove it from the script's listen ports.`;
    return { kind: 'failed', failure: 'sandbox_error', detail };
  }
  const python = await deps.interpreters.of(run.python);
  if (typeof python === 'string') {
    return { kind: 'failed', failure: 'environment_error', detail: python };
  }
  const [files, params, payload] = await Promise.all([
    deps.snapshots.of(run.scriptId, run.scriptVersion),
    run.paramsSha256 === null ? noParameters : deps.parameters(run.paramsSha256),
    run.payloadSha256 === null ? null : deps.payload(run.payloadSha256),
  ]);
  if (params === undefined || payload === undefined) {
    return { kind: 'failed', failure: 'sandbox_error', detail: paramsRemoved };
  }
  if (!files.some((file) => file.path === run.entrypoint)) {
    const detail = `The entry point "${run.entrypoint}" does not exist in version ${run.scriptVersion} of the script.`;
    return { kind: 'failed', failure: 'environment_error', detail };
  }
  const wanted = await deps.wantedPackages.of(files, run.entrypoint, python.version);
  if ('problem' in wanted) {
    return { kind: 'failed', failure: 'environment_error', detail: wanted.problem };
  }
  const { requirements } = wanted;
  const environment = await withProject(deps, run, files, requirements, (project) =>
    lockedEnvironment(deps, run, {
      requirements,
      ...(project !== undefined && { project }),
      pythonPath: python.executable,
      ...(run.resolution !== null && { resolution: run.resolution }),
      onLog: (line) => log.system(line),
      signal,
    }),
  );
  if (environment.status === 'failed') {
    return { kind: 'failed', failure: 'environment_error', detail: environment.detail };
  }
  const opening = openChannel(deps, run, log, payload);
  const release = () => {
    deps.secrets.forget(run);
    void opening.then(
      ({ close }) => close(),
      () => undefined,
    );
    environment.release();
  };
  try {
    signal.throwIfAborted();
    // Reads the settings after the build, so that changes made during the build take effect.
    const mayHaveSecrets = run.hasSecrets || environment.built || run.triggerType === 'rerun';
    const isResident = run.startMode === 'resident';
    const [{ sdk, given }, secrets, secretsRevision] = await Promise.all([
      opening,
      // Reads the secrets after the build, so that changes made during the build take effect.
      mayHaveSecrets ? deps.secrets.environmentOf(run) : {},
      isResident && mayHaveSecrets ? deps.secrets.revisionOf(run) : '',
      deps.sdk.packagePaths.ensure(environment.environmentDir),
    ]);
    log.mask(Object.values(secrets));
    const isPrivate = readRequirements(requirements).kind === 'private';
    const made = {
      isPrivate,
      python,
      folder: environment.environmentDir,
      sdk,
      payloads: given === undefined || isResident ? [] : [given.path],
    };
    const around = {
      environmentFolder: made.folder,
      params,
      secrets,
      socket: sdk.path,
      ...(given !== undefined && { payload: given }),
    };
    const variables = runVariables(run, around);
    if (isResident) {
      const resident = residentRun(run, {
        revision: `${run.scriptVersion} ${secretsRevision}`,
        payload: given?.path,
        hold: environment.hold,
        log,
      });
      return {
        kind: 'ready',
        spec: { ...asResident(specOf(deps, run, files, made, variables)), resident },
        release,
      };
    }
    const warm = await deps.warmStarts.of({
      run,
      files,
      environmentFolder: made.folder,
      interpreter: python,
      variables,
    });
    return {
      kind: 'ready',
      spec: { ...specOf(deps, run, files, made, variables), ...(warm !== undefined && { warm }) },
      release,
    };
  } catch (error) {
    release();
    if (!(error instanceof UnreadableSecret)) throw error;
    return { kind: 'failed', failure: 'sandbox_error', detail: error.message };
  }
}

interface OpenChannel {
  readonly sdk: SdkEntry;
  /** The run's webhook call. */
  readonly given?: PayloadFile;
  readonly close: () => Promise<void>;
}

async function openChannel(
  deps: PreparationDeps,
  run: ClaimedRun,
  log: RunLog,
  payload: Buffer | null,
): Promise<OpenChannel> {
  const channel = deps.sdk.channels.of({ run, log });
  const { entry: sdk } = channel;
  if (payload === null) return { sdk, close: async () => channel.close() };
  const payloadPath = `${sdk.path}.payload`;
  const close = async () => {
    channel.close();
    await rm(payloadPath, { force: true });
  };
  try {
    return { sdk, given: await writePayload(payloadPath, payload), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Project {
  readonly folder: string;
  readonly version: string;
}

/** Calls `work`. If the requirements refer to files of the script (`-e .` or `-r more.txt`), passes a copy of the
 *  files. */
async function withProject<Result>(
  deps: PreparationDeps,
  run: ClaimedRun,
  files: readonly RunFile[],
  requirements: string,
  work: (project?: Project) => Promise<Result>,
): Promise<Result> {
  if (readRequirements(requirements).kind !== 'private') return await work();
  const own = join(deps.projectsFolder, run.scriptId);
  await mkdir(own, { recursive: true, mode: 0o700 });
  const folder = await makeOwnFolder(own, run.runId);
  try {
    for (const { path, source } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await copyFile(source, join(folder, path));
    }
    return await work({ folder, version: String(run.scriptVersion) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Surroundings {
  readonly python: Python;
  readonly folder: string;
  readonly sdk: SdkEntry;
  readonly payloads: readonly string[];
  /** Whether only this script uses the environment. */
  readonly isPrivate: boolean;
}

function specOf(
  deps: PreparationDeps,
  run: ClaimedRun,
  files: readonly RunFile[],
  { python, folder, sdk, payloads, isPrivate }: Surroundings,
  env: RunSpec['env'],
): RunSpec {
  const { limits } = run;
  return {
    runId: run.runId,
    scriptId: run.scriptId,
    user: run.scriptId,
    argv: [join(folder, 'bin', 'python'), entrypointArgument(run.entrypoint)],
    env,
    workspaceEnv: workspaceVariables,
    files,
    dataFolder: join(deps.dataFolder, run.scriptId),
    readOnly: [...python.prefixes, folder, sdkFolder, ...payloads],
    privatePaths: [...(isPrivate ? [folder] : []), ...payloads],
    readWrite: [sdk.path],
    hidden: deps.hidden,
    listenPorts: run.listenPorts,
    mergeStderr: run.mergeStderr,
    limits: {
      cpuSeconds: limits.cpu_seconds,
      memoryBytes: limits.memory_bytes,
      addressSpaceBytes: limits.address_space_bytes,
      openFiles: limits.open_files,
      processes: limits.processes,
      wallClockSeconds: limits.wall_clock_seconds,
      diskBytes: run.storageQuotaBytes,
    },
    leaseMs: deps.leaseMs,
    stopGraceMs: deps.stopGraceMs,
    sdk,
  };
}
