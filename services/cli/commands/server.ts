/** Commands on the server's own machine: they use its database, not its API. What that takes is loaded when
 *  it is asked for, as the other commands need none of it. */
import { fileURLToPath } from 'node:url';
import type { Command } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { askHidden } from '../prompt.ts';
import type { Terminal } from '../terminal.ts';

const database =
  'ORCH_DATABASE_ADMIN_URL names the database; without it, the one of the minimal edition in ORCH_DATA_DIR is ' +
  'used, which has to be running.';

const backups =
  'A FILE is a downloaded backup; an ID names a backup in the object store. SECRET_MASTER_KEY checks its seal and opens ' +
  'its keys; the minimal edition has it in ORCH_DATA_DIR. ORCH_BACKUP_KEY decrypts the backup.';
const unsealed = {
  help: 'also a backup whose seal cannot be checked: an older version made it, or its master key is not here',
};
const offline =
  'No service may run meanwhile. The database of the minimal edition in ORCH_DATA_DIR is started for it, and made ' +
  'where there is none; ORCH_DATABASE_ADMIN_URL names another.';

export const start: Command = {
  name: 'start',
  arguments: '',
  summary: 'start the whole service on this machine, without Docker or root',
  details:
    'Keeps its data in ORCH_DATA_DIR, or else in .orchestrator in this folder. Prints the address of the dashboard ' +
    'and, the first time, the password of the administrator. Ctrl-C stops the service.',
  examples: [['start', 'as make run does']],
  run: async () => {
    const { execPath, env } = process;
    const minimal = fileURLToPath(new URL('../../minimal/main.ts', import.meta.url));
    // The service takes the place of this process, so that whoever started it can stop it.
    process.execve?.(execPath, [execPath, minimal], env);
    throw new CommandProblem(exitCodes.refused, 'The service runs on Linux only.');
  },
};

export const setup: Command = {
  name: 'setup',
  arguments: '',
  summary: 'bring database and object store to what this version needs (on the server)',
  details:
    'Waits for the database of ORCH_DATABASE_ADMIN_URL, carries out migrations, makes the user of ' +
    'ORCH_DATABASE_URL, rebuilds read models that another version made, and makes the bucket of ORCH_OBJECTS_URL. ' +
    'What is there already stays; a database of a newer version is refused and not changed.',
  examples: [['setup', 'before the services of a version are started']],
  run: async ({ terminal, signal }) => {
    const { setUp } = await import('../setup.ts');
    await setUp(terminal, signal);
    return exitCodes.done;
  },
};

export const projectionsList: Command = {
  name: 'projections list',
  arguments: '',
  summary: 'say which read models there are, and how far they have read (on the server)',
  details: database,
  examples: [['projections list', 'all of them']],
  run: async ({ terminal }) => {
    const [{ withServerDatabase }, { listProjections }] = await modules();
    return await withServerDatabase(terminal, async (pool) => {
      await listProjections(pool, terminal);
      return exitCodes.done;
    });
  },
};

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  arguments: '[NAME]',
  summary: 'rebuild read models from the events while the services run (on the server)',
  details: database,
  options: { outdated: { help: 'all that were made by another version of the program' } },
  examples: [
    ['projections rebuild runs', 'one'],
    ['projections rebuild --outdated', 'those that need it'],
  ],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (options.has('outdated') ? args.length > 0 : args.length !== 1) {
      throw usageProblem('Expected the NAME of a read model, or --outdated.');
    }
    const [{ withServerDatabase }, { rebuildNamed, rebuildOutdated }] = await modules();
    return await withServerDatabase(terminal, async (pool) => {
      await (name === undefined
        ? rebuildOutdated(pool, terminal)
        : rebuildNamed(name, pool, terminal));
      return exitCodes.done;
    });
  },
};

export const resetPassword: Command = {
  name: 'admin reset-password',
  arguments: 'EMAIL',
  summary: 'give an account another password (on the server)',
  details: `Its sessions end; its API tokens stay. ${database}`,
  options: {
    'password-stdin': { help: 'read the password from standard input; otherwise it is asked for' },
    enable: { help: 'let it in again, where it is disabled' },
  },
  examples: [
    ['admin reset-password admin@example.com', 'for who has forgotten it'],
    [
      'admin reset-password admin@example.com --enable < password.txt --password-stdin',
      'no terminal',
    ],
  ],
  run: async ({ args, options, terminal, input }) => {
    const [email] = args;
    if (email === undefined || args.length !== 1) throw usageProblem('Expected the EMAIL of one.');
    const password = options.has('password-stdin')
      ? (await input()).replace(/\r?\n$/, '')
      : await askHidden(`New password of ${email}`);
    const [{ withServerDatabase }, { giveNewPassword }] = await Promise.all([
      import('../server-database.ts'),
      import('../accounts.ts'),
    ]);
    return await withServerDatabase(terminal, async (pool) => {
      await giveNewPassword(pool, { email, password, enable: options.has('enable') }, terminal);
      return exitCodes.done;
    });
  },
};

export const backupVerify: Command = {
  name: 'backup verify',
  arguments: 'FILE|ID',
  summary: 'check the seal and every part of a backup (on the server)',
  details: backups,
  options: { unsealed },
  examples: [['backup verify backup-2026-07-01T0300.tar', 'a file that was downloaded']],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (name === undefined || args.length > 1) throw usageProblem('Expected the FILE or the ID.');
    const { verifyNamed } = await import('../backups.ts');
    await verifyNamed(name, options.has('unsealed'), terminal);
    return exitCodes.done;
  },
};

export const backupRestore: Command = {
  name: 'backup restore',
  arguments: '[FILE|ID]',
  summary: 'put a backup in the place of all there is, whole or not at all (on the server)',
  details: `${backups} ${offline}`,
  options: {
    replace: { help: 'also where there is something already, which is lost then' },
    revive: {
      help: 'with --replace: also bring back tokens, sessions, accounts and passwords that ended after the backup',
    },
    unsealed,
    asked: { help: 'the one that was asked for in the dashboard; for the supervisor' },
  },
  examples: [
    ['backup restore backup-2026-07-01T0300.tar', 'onto a new installation'],
    ['backup restore backup-2026-07-01T0300.tar --replace', 'in the place of what is there'],
  ],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (options.has('asked') ? args.length > 0 : args.length !== 1) {
      throw usageProblem('Expected the FILE or the ID.');
    }
    if (name !== undefined) {
      const chosen = (option: string) => options.has(option);
      return await restoreNamed(
        name,
        { replace: chosen('replace'), revive: chosen('revive'), unsealed: chosen('unsealed') },
        terminal,
      );
    }
    const [{ withServerDatabase }, { restoreAsked }] = await Promise.all([
      import('../server-database.ts'),
      import('../asked-restore.ts'),
    ]);
    return await withServerDatabase(terminal, async (pool) => {
      await restoreAsked(pool, terminal);
      return exitCodes.done;
    });
  },
};

interface RestoreChoices {
  readonly replace: boolean;
  readonly revive: boolean;
  readonly unsealed: boolean;
}

async function restoreNamed(
  name: string,
  { replace, revive, unsealed: isUnsealed }: RestoreChoices,
  terminal: Terminal,
): Promise<number> {
  const [{ withOfflineDatabase }, all] = await Promise.all([
    import('../offline-database.ts'),
    import('../backups.ts'),
  ]);
  const { objects, dataDir } = await all.backupSettings();
  const source = await all.namedBackup(objects, name);
  const actor = { kind: 'system', name: 'restore' } as const;
  const onProgress = (step: string, share: number) =>
    terminal.progress(step.padEnd(12), Math.min(0.99, share));
  const prepared = await all.prepareSource({ source, unsealed: isUnsealed, onProgress });
  return await withOfflineDatabase(terminal, async (pool) => {
    terminal.line(
      await all.restoreSource({ pool, source, prepared, replace, revive, actor, onProgress }),
    );
    const note = all.afterFirstRestore(dataDir, prepared);
    if (note !== undefined) terminal.line(note);
    return exitCodes.done;
  });
}

async function modules() {
  return await Promise.all([import('../server-database.ts'), import('../projections.ts')]);
}
