import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { objectKey, objectPrefix, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectConflict, ObjectStoreFull, type ObjectStore } from '#domain/ports/objects.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { pathProblem } from '#domain/script/path.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findRun } from '#projections/runs/queries.ts';
import Type from 'typebox';
import { answered, holdsSecret, refused, sdkCall, type SdkAnswer, type SdkCalls } from '../call.ts';

/** The limits for one run. */
const maxBytes = 100 * 1024 * 1024;
const maxObjects = 1_000;

const path = Type.String({ minLength: 1, maxLength: 255 });
const runId = Type.Union([Type.String({ maxLength: 36 }), Type.Null()]);

interface Stored {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Calls that access a run's artifacts. A run can also read the artifacts of its script's other runs. */
export function storageCalls(objects: ObjectStore, reads: ReadModels): SdkCalls {
  return {
    'storage.upload': sdkCall({
      maxBodyBytes: maxBytes,
      arguments: Type.Object({ path }, { additionalProperties: false }),
      handle: async (given, context, body) => {
        const { run } = context;
        const problem = pathProblem(given.path);
        if (problem !== undefined) return badPath(problem);
        // Refuses such paths instead of masking them, because masked paths could collide and files would overwrite each
        // other.
        if (holdsSecret(context, given.path)) return secretPath;
        const others = (await listOf(objects, run.runId)).filter((one) => one.path !== given.path);
        const bytes = others.reduce((sum, one) => sum + one.sizeBytes, body.sizeBytes);
        if (others.length >= maxObjects || bytes > maxBytes) return full;
        return await put(objects, objectKey.runArtifact(run.runId, given.path), body.chunks);
      },
    }),
    'storage.download': sdkCall({
      arguments: Type.Object({ path, run_id: runId }, { additionalProperties: false }),
      handle: async (given, { run }) => {
        const problem = pathProblem(given.path);
        if (problem !== undefined) return badPath(problem);
        const owner = await ownRun(reads, run, given.run_id);
        if (owner === undefined) return noRun;
        const key = objectKey.runArtifact(owner, given.path);
        const [info, chunks] = [await objects.head(key), await objects.getStream(key)];
        return info === undefined || chunks === undefined
          ? refused('not_found', `The run has no file "${given.path}".`)
          : { kind: 'bytes', sizeBytes: info.sizeBytes, chunks };
      },
    }),
    'storage.list': sdkCall({
      arguments: Type.Object(
        { prefix: Type.String({ maxLength: 255 }), run_id: runId },
        { additionalProperties: false },
      ),
      handle: async (given, { run }) => {
        const owner = await ownRun(reads, run, given.run_id);
        if (owner === undefined) return noRun;
        const stored = await listOf(objects, owner);
        return answered(
          stored
            .filter((one) => one.path.startsWith(given.prefix))
            .map((one) => ({ path: one.path, size_bytes: one.sizeBytes })),
        );
      },
    }),
  };
}

const full = refused(
  'limit_reached',
  `A run may store at most ${maxObjects} files with ${maxBytes} bytes in total.`,
);
const secretPath = refused(
  'invalid_request',
  'The path contains a secret, and paths are visible in lists. Choose another path.',
);
const noRun = refused('not_found', 'The script has no such run.');

function badPath(problem: string): SdkAnswer {
  return refused('invalid_request', `The path is not valid: ${problem}.`);
}

async function put(
  objects: ObjectStore,
  key: ObjectKey,
  chunks: AsyncIterable<Uint8Array>,
): Promise<SdkAnswer> {
  try {
    await objects.putStream(key, chunks);
    return answered();
  } catch (error) {
    if (error instanceof ObjectStoreFull)
      return refused('limit_reached', 'The object store is full.');
    if (error instanceof ObjectConflict) {
      return refused('invalid_request', 'A path cannot be both a file and a folder.');
    }
    throw error;
  }
}

async function listOf(objects: ObjectStore, owner: string): Promise<readonly Stored[]> {
  const prefix = objectPrefix.runArtifacts(owner);
  const stored: Stored[] = [];
  for await (const { key, sizeBytes } of objects.list(prefix)) {
    stored.push({ path: key.slice(prefix.length), sizeBytes });
  }
  return stored;
}

/** Returns the requested run if it belongs to the same script. */
async function ownRun(
  reads: ReadModels,
  run: ClaimedRun,
  wanted: string | null,
): Promise<string | undefined> {
  if (wanted === null || wanted === run.runId) return run.runId;
  if (parseRunId(wanted) === undefined) return undefined;
  const other = await findRun(reads, mustParse(parseRunId, wanted));
  return other?.script_id === run.scriptId ? other.run_id : undefined;
}
