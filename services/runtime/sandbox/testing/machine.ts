/** What the sandbox can use on this machine, with the tests' rights. */
import type { OptionalService } from '../../../../scripts/testing/optional-service.ts';
import type { TestUser } from './attacks.ts';
import { Bench, systemPython } from './bench.ts';

const python = await systemPython();
const bench = await Bench.open(python === undefined ? {} : { python });
/** The names of the available layers. */
export const availableLayers = bench.sandbox.layers;
await bench.close();

/** Whom the tests run as, for tests whose result depends on the user. */
export const testUser: TestUser = process.getuid?.() === 0 ? 'user 0' : 'ordinary user';

export const user0: OptionalService = {
  service: 'user 0',
  found: testUser === 'user 0' ? 'here' : undefined,
  reason: 'the tests run as an ordinary user (sudo make test)',
};

/** The namespaces that warm interpreters and resident processes require. */
export const namespaces: OptionalService = {
  service: 'namespaces',
  found: ['pid_namespace', 'mount_namespace'].every((name) => availableLayers.includes(name))
    ? 'here'
    : undefined,
  reason:
    'this user may not create them (sysctl -w kernel.unprivileged_userns_clone=1 ' +
    'kernel.apparmor_restrict_unprivileged_userns=0, or sudo make test)',
};
