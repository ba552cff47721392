/** Runs a guard in a separate process, which tests can kill at a given step (`infra/testing/kill-steps.ts`).
 *  Arguments: the data folder, and as JSON the release to run if no switch is requested. */
import '#infra/testing/kill-steps.ts';
import { Releases, type Installed } from '#services/shared/releases.ts';
import { guard } from '../releases/guard.ts';

const [dataDir = '', own = ''] = process.argv.slice(2);
const asked = new AbortController();
process.on('SIGTERM', () => asked.abort());
const { KILLED_BEFORE: _, STEPS_NOTED_IN: _noted, ...environment } = process.env;
await guard(
  {
    releases: new Releases(dataDir),
    dataDir,
    own: JSON.parse(own) as Installed,
    environment,
    services: [],
    say: (line) => void process.stdout.write(`${line}\n`),
    observation: { settleMs: 60, everyMs: 10 },
  },
  asked.signal,
);
