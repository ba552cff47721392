/** Attacks by scripts, and the layers that prevent them. The test cases in `attacks.test.ts` and the table in
 *  docs/sandbox.md are derived from this list. Each listed layer can prevent the attack on its own. */

export interface Attack {
  readonly name: string;
  readonly heldBy: readonly string[];
  /** Set if only root, or only an ordinary user, has the right that the attack requires. */
  readonly only?: TestUser;
}

export type TestUser = 'user 0' | 'ordinary user';

/** Similar attacks, which one function tries. */
export interface Family {
  readonly title: string;
  readonly way: 'reach' | 'take' | 'stay' | 'gain' | 'call' | 'break' | 'listen';
  readonly attacks: readonly Attack[];
}

const NAMESPACED = ['user_namespace', 'pid_namespace'] as const;

/** The layers that a layer depends on. */
export const NEEDS: Readonly<Record<string, readonly string[]>> = {
  pid_namespace: ['user_namespace'],
  ipc_namespace: NAMESPACED,
  pid_limit: NAMESPACED,
  mount_namespace: [...NAMESPACED, 'proc'],
  landlock: ['no_new_privs'],
  bind_tcp: ['no_new_privs'],
  listen_filter: ['no_new_privs'],
  seccomp: ['no_new_privs'],
};

const on = (heldBy: readonly string[], ...names: readonly string[]): Attack[] =>
  names.map((name) => ({ name, heldBy }));

const processes = [
  ...on(['pid_namespace', 'script_user', 'landlock'], 'kill', 'pidfd_send_signal'),
  ...on(
    ['pid_namespace', 'script_user', 'landlock', 'seccomp'],
    'pidfd_getfd',
    'ptrace',
    'process_vm_readv',
  ),
  ...on(['pid_namespace', 'script_user', 'seccomp'], 'prlimit'),
  ...on(['pid_namespace', 'script_user'], 'sched_setaffinity', 'setpriority'),
  ...on(
    ['mount_namespace', 'script_user', 'landlock'],
    '/proc environ',
    '/proc memory',
    '/proc root',
    '/proc cwd',
    '/proc fd',
  ),
];

const ofPlatform = processes.map(({ name, heldBy }) => ({
  name: `platform's process: ${name}`,
  heldBy,
}));

/** Returns the layers that prevent an attack by root. A process with capabilities is protected from processes
 *  without them. However, Landlock does not protect another process's environment variables from a process with
 *  CAP_PERFMON. */
function asUser0HeldBy(name: string, heldBy: readonly string[]): readonly string[] {
  if (/kill|signal|prlimit/.test(name)) return heldBy;
  const others = heldBy.filter((layer) => !(layer === 'landlock' && name.endsWith('environ')));
  return [...others, 'capabilities'];
}

const asUser0 = (attacks: readonly Attack[]): Attack[] =>
  attacks.map((each) => ({ ...each, only: 'user 0' }));

export const FAMILIES: readonly Family[] = [
  {
    title: 'Reaching another script',
    way: 'reach',
    attacks: [
      ...processes,
      ...on(
        ['mount_namespace', 'script_user', 'landlock'],
        'list workspace',
        'read file',
        'write file',
        'create file',
        'read kept file',
        'replace kept file',
        'symbolic link',
      ),
      ...on(['mount_namespace', 'landlock'], 'hard link'),
      ...on(['mount_namespace', 'script_user'], 'chmod', 'utime', 'shared memory'),
      ...on(['ipc_namespace', 'script_user'], 'System V memory'),
      ...on(['landlock'], 'abstract socket'),
    ],
  },
  {
    title: 'Reaching the platform',
    way: 'reach',
    attacks: [
      ...on(['mount_namespace', 'script_user', 'landlock'], 'platform file'),
      ...on(['mount_namespace', 'script_user'], 'platform socket'),
      ...ofPlatform.map((each): Attack => ({ ...each, only: 'ordinary user' })),
      ...asUser0(
        ofPlatform.map(({ name, heldBy }) => ({ name, heldBy: asUser0HeldBy(name, heldBy) })),
      ),
    ],
  },
  {
    title: 'Calling the platform as another run',
    way: 'reach',
    attacks: on(['mount_namespace', 'script_user', 'caller_check'], 'socket of another run'),
  },
  {
    title: 'Obtaining file descriptors',
    way: 'reach',
    attacks: [
      ...on(['mount_namespace', 'script_user', 'landlock'], 'open file of another run'),
      ...on(
        ['pid_namespace', 'script_user', 'landlock', 'seccomp'],
        'copied descriptor of another run',
      ),
    ],
  },
  {
    title: 'Outliving the run',
    way: 'stay',
    attacks: on(
      ['pid_namespace', 'cgroup', 'descendants'],
      'a double fork that holds the output',
      'a chain of forks that changes its process ID',
      'a script that ignores every signal',
      'a script that stops itself',
      'a script that closes its output',
    ),
  },
  {
    title: 'Exceeding the limits',
    way: 'take',
    attacks: [
      ...on(['rlimits', 'measuring'], 'CPU time while ignoring SIGXCPU', 'one large file'),
      ...on(
        ['measuring'],
        'CPU time of many processes',
        'many files',
        'removed files',
        'files that are mapped but not open',
      ),
      ...on(['cgroup', 'measuring'], 'memory', 'memory of many processes'),
      ...on(['cgroup', 'seccomp'], 'memory that is not counted for any process'),
      ...on(['rlimits'], 'address space', 'open files'),
      // The kernel counts the processes of ordinary users, but not those of root.
      { name: 'a fork bomb', heldBy: ['cgroup', 'pid_limit', 'measuring'], only: 'user 0' },
      { name: 'a fork bomb', heldBy: ['rlimits', 'pid_limit', 'measuring'], only: 'ordinary user' },
    ],
  },
  {
    title: 'Exhausting directory entries',
    way: 'take',
    attacks: on(['measuring'], 'empty files', 'empty folders', 'symbolic links', 'hard links'),
  },
  {
    title: 'Gaining privileges',
    way: 'gain',
    attacks: [
      ...asUser0(on(['capabilities', 'script_user', 'landlock', 'seccomp'], 'a mount')),
      ...asUser0(on(['capabilities', 'script_user', 'landlock'], 'a device')),
      ...asUser0(
        on(
          ['capabilities', 'script_user'],
          'a raw socket',
          'a file that only its owner can access',
        ),
      ),
    ],
  },
  {
    title: 'Gaining privileges through a program',
    way: 'gain',
    attacks: [
      {
        name: 'a set-user-id program of user 0',
        heldBy: ['no_new_privs', 'mount_namespace'],
        only: 'user 0',
      },
    ],
  },
  {
    title: 'Listening on a TCP port',
    way: 'listen',
    attacks: [
      ...on(
        ['bind_tcp', 'listen_filter'],
        '127.0.0.1',
        '::1',
        '0.0.0.0',
        '::',
        '::ffff:127.0.0.1',
        'port 0',
        "the platform's port on ::1",
        'a socket of a child',
      ),
      ...on(['bind_tcp', 'listen_filter', 'script_user'], "SO_REUSEPORT on the platform's port"),
      ...on(['listen_filter', 'seccomp'], 'MPTCP'),
      ...on(
        ['listen_filter'],
        'an unbound socket',
        'a socket of a thread',
        'a socket whose connection failed',
      ),
    ],
  },
  {
    title: 'Ending its own supervisor',
    way: 'break',
    attacks: on(['session', 'script_user', 'landlock'], 'a signal to its process group'),
  },
  {
    title: 'Making unneeded system calls',
    way: 'call',
    attacks: on(
      ['seccomp'],
      'add_key',
      'keyctl',
      'userfaultfd',
      'io_uring_setup',
      'unshare',
      'clone',
      'personality',
    ),
  },
];

/** Whether the user could perform the attack without a sandbox.
 *  @param available the layers that the machine supports */
export function isPossible(
  { name, only }: Attack,
  user: TestUser,
  available: readonly string[],
): boolean {
  const createsNamespaces = ['unshare', 'clone'].includes(name);
  return (only ?? user) === user && (!createsNamespaces || available.includes('user_namespace'));
}

/** Returns the available layers that prevent the attack. */
export function holdingLayers(
  { name, heldBy, only }: Attack,
  available: readonly string[],
): readonly string[] {
  // RLIMIT_NPROC counts the processes of an ordinary user in one user namespace.
  const countsAllRuns =
    name === 'a fork bomb' && only === 'ordinary user' && !available.includes('user_namespace');
  // Without control groups, seccomp denies the creation of such memory.
  const isDenied = name === 'System V memory' && !available.includes('cgroup');
  return [...heldBy, ...(isDenied ? ['seccomp'] : [])].filter(
    (layer) => available.includes(layer) && !(countsAllRuns && layer === 'rlimits'),
  );
}

/** Returns the layers to disable. Of the layers that prevent the attacks, only `alone` remains enabled, or none if
 *  `alone` is not set. */
export function layersWithout({ attacks }: Family, alone?: string): readonly string[] {
  const needed = alone === undefined ? [] : [alone, ...(NEEDS[alone] ?? [])];
  const holding = new Set(attacks.flatMap(({ heldBy }) => heldBy));
  // An ordinary user needs the user namespace for the other namespaces, so all are disabled together. Root does not
  // need the user namespace.
  if (holding.has('pid_namespace') || holding.has('mount_namespace')) {
    for (const layer of ['user_namespace', 'pid_namespace', 'ipc_namespace']) holding.add(layer);
    for (const layer of ['pid_limit', 'mount_namespace', 'proc']) holding.add(layer);
  }
  // Any Landlock rule prevents a run from tracing outside processes.
  if (holding.has('landlock')) holding.add('bind_tcp');
  return [...holding].filter((layer) => !needed.includes(layer));
}
