import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { defaultLimits, defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { expect, test } from 'vitest';
import { runVariables } from './run-variables.ts';

const run: ClaimedRun = {
  runId: runId(),
  scriptId: scriptId(),
  scriptVersion: 1,
  entrypoint: 'main.py',
  limits: defaultLimits,
  storageQuotaBytes: 1_000_000,
  environment: {},
  python: null,
  startMode: 'warm',
  resident: defaultSettings.resident,
  mergeStderr: false,
  listenPorts: [],
  resolution: null,
  triggerType: 'manual',
  paramsSha256: null,
  payloadSha256: null,
  hasSecrets: false,
  attempt: 1,
  correlationId: 'any',
  commandId: 'any',
  queuedAt: new Date(0),
  scriptName: 'Report',
};

const around = { environmentFolder: '/environment', params: '{}', secrets: {}, socket: '/s.sock' };

test("a run gets its author's variables, which cannot replace platform variables", () => {
  const plain = runVariables(run, around);
  const reserved = { PATH: '/tmp', PYTHONPATH: '/tmp', LD_PRELOAD: 'x', ORCH_RUN_ID: 'x' };
  const environment = { TZ: 'UTC', LANG: 'de_DE.UTF-8', ...reserved };
  expect(runVariables({ ...run, environment }, around)).toEqual({
    ...plain,
    TZ: 'UTC',
    LANG: 'de_DE.UTF-8',
  });
});

test('a run started by a webhook gets the path of the payload and the headers in its environment variables', () => {
  const payload = { path: '/s.sock.payload', headers: '{"content-type":"text/plain"}' };
  expect(runVariables(run, { ...around, payload })).toEqual({
    ...runVariables(run, around),
    ORCH_PAYLOAD_FILE: payload.path,
    ORCH_PAYLOAD_HEADERS: payload.headers,
  });
});

test("a secret takes precedence over an author's variable of the same name, but not over platform variables", () => {
  const environment = { TOKEN: 'shown', TZ: 'UTC' };
  const secrets = { TOKEN: 'secret', PATH: '/tmp', ORCH_RUN_ID: 'x' };
  const variables = runVariables({ ...run, environment }, { ...around, secrets });
  expect(variables).toEqual({
    ...runVariables(run, around),
    TOKEN: 'secret',
    TZ: 'UTC',
  });
});
