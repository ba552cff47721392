/** The guard's program. The supervisor process is replaced with this program when a switch to another release is
 *  requested. */
import { resolve } from 'node:path';
import { Releases } from '#services/shared/releases.ts';
import { readMinimalConfig } from '../config.ts';
import { healthEndpoints, services } from '../services.ts';
import { guard } from './guard.ts';
import { own } from './started-as.ts';

const { env } = process;
const dataDir = resolve(env['ORCH_DATA_DIR'] ?? '.orchestrator');
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => asked.abort());

const config = readMinimalConfig(env);
const watched = services
  .filter(({ onDemand }) => onDemand !== true)
  .flatMap((service) => healthEndpoints(service, config));

process.exitCode = await guard(
  {
    releases: new Releases(dataDir),
    dataDir,
    own,
    environment: env,
    services: watched,
    say: (line) => void process.stdout.write(`${line}\n`),
  },
  asked.signal,
);
