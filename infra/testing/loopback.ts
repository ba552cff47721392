/** Finds this machine's loopback addresses, because IPv6 may be disabled. */
import { networkInterfaces } from 'node:os';

const present = new Set(
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .map(({ address }) => address),
);

export const loopbackAddresses: readonly string[] = ['127.0.0.1', '::1'].filter((address) =>
  present.has(address),
);
