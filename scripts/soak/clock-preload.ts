/** This module is loaded into the supervisor through `NODE_OPTIONS`, because the supervisor offers no other way to set
 *  a service's environment. Starts services and PostgreSQL with libfaketime. Each kind of process reads its time from a
 *  separate file. */
import programs from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const { CLOCK_LIBRARY: library = '', CLOCK_FOLDER: folder = '' } = process.env;
const { spawn } = programs;

const kindOf = (args: readonly string[]): string | undefined => {
  if (args.some((arg) => arg.endsWith('bin/postgres'))) return 'postgres';
  return /\/(backend|runtime)(?:\/main\.ts|\.mjs)$/.exec(args.at(-1) ?? '')?.[1];
};

programs.spawn = ((command: string, args: readonly string[], options: programs.SpawnOptions) => {
  const kind = Array.isArray(args) ? kindOf([command, ...args]) : undefined;
  if (kind === undefined) return spawn(command, args, options);
  const env = {
    ...options.env,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(folder, kind),
    // Changes only the wall clock, because the monotonic clock cannot be set on a real machine.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // PostgreSQL processes share the machine's clock, so all of them must see a change at the same time.
    ...(kind === 'postgres' ? { FAKETIME_NO_CACHE: '1' } : { FAKETIME_CACHE_DURATION: '1' }),
    FAKETIME_DISABLE_SHM: '1',
  };
  return spawn(command, args, { ...options, env });
}) as typeof spawn;
syncBuiltinESMExports();
