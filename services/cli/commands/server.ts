/** Commands that run on the server and use its database instead of its API. Their modules are loaded on demand,
 *  because other commands do not need them. */
import { fileURLToPath } from 'node:url';
import type { Command } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { askHidden } from '../prompt.ts';
import type { Terminal } from '../terminal.ts';

const database =
  'ORCH_DATABASE_ADMIN_URL names the database. If it is unset, the command uses the database of the ' +
  'minimal edition in ORCH_DATA_DIR, which must be running.';

const backups =
  'FILE is a downloaded backup; ID names a backup in the object store. SECRET_MASTER_KEY verifies the ' +
  'seal and decrypts the keys; the minimal edition keeps it in ORCH_DATA_DIR. ORCH_BACKUP_KEY decrypts ' +
  'the backup.';
const unsealed = {
  help:
    'accept a backup whose seal cannot be verified, because an older version made it or its master key ' +
    'is missing',
};
const offline =
  'All services must be stopped. The command starts the database of the minimal edition in ' +
  'ORCH_DATA_DIR, and creates it if necessary. ORCH_DATABASE_ADMIN_URL names another database.';

export const start: Command = {
  name: 'start',
  arguments: '',
  summary: 'start the complete service on this machine, without Docker or root',
  details:
    'Stores its data in ORCH_DATA_DIR, or in .orchestrator in the current folder. Prints the URL of the ' +
    "dashboard and, on the first start, the administrator's password. Ctrl-C stops the service.",
  examples: [['start', 'the same as make run']],
  run: async () => {
    const { execPath } = process;
    // The service has its own cache of compiled code.
    const { NODE_COMPILE_CACHE: _, ...env } = process.env;
    const minimal = fileURLToPath(new URL('../../minimal/main.ts', import.meta.url));
    // Replaces this process with the service (exec), so that the service receives signals that are sent to this
    // process.
    process.execve?.(execPath, [execPath, minimal], env);
    throw new CommandProblem(exitCodes.refused, 'The service runs on Linux only.');
  },
};

export const setup: Command = {
  name: 'setup',
  arguments: '',
  summary: 'set up or migrate the database and object store for this version (on the server)',
  details:
    'Waits for the database in ORCH_DATABASE_ADMIN_URL, runs migrations, creates the user in ORCH_DATABASE_URL, ' +
    'rebuilds outdated read models and creates the bucket in ORCH_OBJECTS_URL. Does not change existing data. Rejects ' +
    'a database from a newer version.',
  examples: [['setup', 'before you start the services of a new version']],
  run: async ({ terminal, signal }) => {
    const { setUp } = await import('../setup.ts');
    await setUp(terminal, signal);
    return exitCodes.done;
  },
};

export const projectionsList: Command = {
  name: 'projections list',
  arguments: '',
  summary: 'list the read models and their positions (on the server)',
  details: database,
  examples: [['projections list', 'list all']],
  run: async ({ options, terminal }) => {
    const [{ withServerDatabase }, { listProjections }] = await modules();
    await withServerDatabase(terminal, (pool) => listProjections(pool, terminal, options.json));
    return exitCodes.done;
  },
};

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  arguments: '[NAME]',
  summary: 'rebuild read models from the events while the services run (on the server)',
  details: database,
  options: { outdated: { help: 'all read models that another version of the program built' } },
  examples: [
    ['projections rebuild runs', 'one'],
    ['projections rebuild --outdated', 'only outdated ones'],
  ],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (options.has('outdated') ? args.length > 0 : args.length !== 1) {
      throw usageProblem('Expected the NAME of a read model, or --outdated.');
    }
    const [{ withServerDatabase }, { rebuildNamed, rebuildOutdated }] = await modules();
    await withServerDatabase(terminal, (pool) =>
      name === undefined ? rebuildOutdated(pool, terminal) : rebuildNamed(name, pool, terminal),
    );
    return exitCodes.done;
  },
};

export const resetPassword: Command = {
  name: 'admin reset-password',
  arguments: 'EMAIL',
  summary: 'set a new password for an account (on the server)',
  details: `Ends the sessions of the account; its API tokens stay valid. ${database}`,
  options: {
    'password-stdin': { help: 'read the password from standard input instead of prompting' },
    enable: { help: 'enable the account if it is disabled' },
  },
  examples: [
    ['admin reset-password admin@example.com', 'after a forgotten password'],
    [
      'admin reset-password admin@example.com --enable < password.txt --password-stdin',
      'without a terminal',
    ],
  ],
  run: async ({ args, options, terminal, input }) => {
    const [email] = args;
    if (email === undefined || args.length !== 1) throw usageProblem('Expected one EMAIL.');
    const password = options.has('password-stdin')
      ? (await input()).replace(/\r?\n$/, '')
      : await askHidden(`New password of ${email}`);
    const [{ withServerDatabase }, { resetPasswordOf }] = await Promise.all([
      import('../server-database.ts'),
      import('../accounts.ts'),
    ]);
    const change = { email, password, enable: options.has('enable') };
    await withServerDatabase(terminal, (pool) => resetPasswordOf(pool, change, terminal));
    return exitCodes.done;
  },
};

export const backupVerify: Command = {
  name: 'backup verify',
  arguments: 'FILE|ID',
  summary: 'verify the seal and all parts of a backup (on the server)',
  details: backups,
  options: { unsealed },
  examples: [['backup verify backup-2026-07-01T0300.tar', 'a downloaded backup']],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (name === undefined || args.length > 1)
      throw usageProblem('Expected exactly one FILE or ID.');
    const { verifyNamed } = await import('../backups.ts');
    await verifyNamed(name, options.has('unsealed'), terminal);
    return exitCodes.done;
  },
};

export const backupRestore: Command = {
  name: 'backup restore',
  arguments: '[FILE|ID]',
  summary: 'replace all data with a backup, all or nothing (on the server)',
  details: `${backups} ${offline}`,
  options: {
    replace: { help: 'overwrite existing data, which is lost' },
    revive: {
      help:
        'with --replace: also restore tokens, sessions, accounts and passwords that were revoked or changed after ' +
        'the backup',
    },
    unsealed,
    asked: { help: 'the restore requested in the dashboard; used by the supervisor' },
  },
  examples: [
    ['backup restore backup-2026-07-01T0300.tar', 'to a new installation'],
    ['backup restore backup-2026-07-01T0300.tar --replace', 'replacing the current data'],
  ],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (options.has('asked') ? args.length > 0 : args.length !== 1) {
      throw usageProblem('Expected exactly one FILE or ID.');
    }
    if (name !== undefined) {
      const chosen = (option: string) => options.has(option);
      return await restoreNamed(
        name,
        { replace: chosen('replace'), revive: chosen('revive'), unsealed: chosen('unsealed') },
        terminal,
      );
    }
    const [{ withServerDatabase }, { runRequestedRestore }] = await Promise.all([
      import('../server-database.ts'),
      import('../requested-restore.ts'),
    ]);
    await withServerDatabase(terminal, (pool) => runRequestedRestore(pool, terminal));
    return exitCodes.done;
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
  await withOfflineDatabase(terminal, async (pool) => {
    terminal.line(
      await all.restoreSource({ pool, source, prepared, replace, revive, actor, onProgress }),
    );
    const note = all.afterFirstRestore(dataDir, prepared);
    if (note !== undefined) terminal.line(note);
  });
  return exitCodes.done;
}

async function modules() {
  return await Promise.all([import('../server-database.ts'), import('../projections.ts')]);
}
