/** Builds a container's configuration for an OCI runtime from compose.yaml and the image. All functions are pure. */
import type { ContainerOptions, ImageDetails } from './engine.ts';

/** Docker's format contains the same rules, but lists architectures differently. */
interface SeccompProfile {
  readonly defaultAction: string;
  readonly archMap?: readonly { readonly architecture: string }[];
  readonly syscalls: readonly object[];
}

/** Paths that Docker masks in a container by default. */
const maskedPaths = [
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/firmware',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export interface BundleOptions {
  readonly rootfs: string;
  readonly image: ImageDetails;
  readonly container: ContainerOptions;
  readonly seccomp: SeccompProfile | undefined;
  readonly cgroup: string;
}

/** Returns the bundle's `config.json`. The container uses the machine's network. */
export function bundleConfig({ rootfs, image, container, seccomp, cgroup }: BundleOptions): object {
  const [uid = 0, gid = 0] = image.user.split(':').map(Number);
  const environment = Object.entries(container.environment).map(
    ([name, value]) => `${name}=${value}`,
  );
  // As in a container engine, an unprivileged user has no capabilities, but an executed file can add its own.
  const bounding = container.capabilities.map((name) => `CAP_${name}`);
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...image.entrypoint, ...(container.command ?? image.command)],
      env: [...image.environment, ...environment],
      cwd: image.workingDir || '/',
      capabilities: { bounding, effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: container.readOnly },
    hostname: 'container',
    mounts: [...systemMounts, ...ownMounts(container)],
    linux: {
      cgroupsPath: cgroup,
      resources: { devices: [{ allow: false, access: 'rwm' }] },
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      ...(!container.unmasked && { maskedPaths, readonlyPaths }),
      ...(seccomp !== undefined && {
        seccomp: {
          defaultAction: seccomp.defaultAction,
          architectures: seccomp.archMap?.map(({ architecture }) => architecture) ?? [],
          syscalls: seccomp.syscalls,
        },
      }),
    },
  };
}

const hardened = ['nosuid', 'noexec', 'nodev'];
const systemMounts = [
  { destination: '/proc', type: 'proc', source: 'proc', options: hardened },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  {
    destination: '/dev/pts',
    type: 'devpts',
    source: 'devpts',
    options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
  },
  {
    destination: '/dev/shm',
    type: 'tmpfs',
    source: 'shm',
    options: [...hardened, 'mode=1777', 'size=65536k'],
  },
  { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...hardened, 'ro'] },
];

function ownMounts({ tmpfs, mounts }: ContainerOptions): readonly object[] {
  return [
    ...tmpfs.map((destination) => ({
      destination,
      type: 'tmpfs',
      source: 'tmpfs',
      options: [...hardened, 'mode=1777'],
    })),
    ...mounts.map(({ source, path, writable }) => ({
      destination: path,
      type: 'bind',
      source,
      options: ['rbind', writable ? 'rw' : 'ro'],
    })),
  ];
}
