/** `make run`: the whole service on one machine. */
import { services } from './services.ts';
import { startSupervisor } from './supervisor.ts';
import { runInTerminal } from './terminal.ts';

await runInTerminal((say, signal) =>
  startSupervisor({ services, environment: process.env, say }, signal),
);
