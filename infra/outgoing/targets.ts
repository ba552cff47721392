/** Checks the addresses that the service may connect to on behalf of users. These are public addresses and addresses
 *  that the operator permits (OWASP ASVS 5.0, 1.3.6). */
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Address ranges that are not public, from IANA's special-purpose address registries. */
const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];
/** Every public IPv6 address is in this range. */
const publicIpv6 = listOf(['2000::/3']);
const notPublic = listOf(special);

/** The service may not connect to the address. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** Resolves a host name to all its addresses. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export class Targets {
  readonly #allowed: BlockList;
  readonly #lookup: Lookup;

  /** @param allowed non-public networks that are permitted */
  constructor(allowed: readonly string[], lookup: Lookup = lookupAll) {
    this.#allowed = listOf(allowed);
    this.#lookup = lookup;
  }

  /** Returns the address to connect to. The caller must not resolve the name again, because another lookup could return
   *  a different address.
   *  @param host a name or an address, without brackets
   *  @throws TargetRefused if none of the addresses is permitted */
  async addressOf(host: string): Promise<string> {
    const found = isIP(host) === 0 ? await this.#lookup(host) : [host];
    const address = found.find((one) => this.#isAllowed(plain(one)));
    if (address !== undefined) return address;
    throw new TargetRefused(
      `${host} does not resolve to a public address, and ORCH_ALLOW_PRIVATE_TARGETS does not list it`,
    );
  }

  #isAllowed(address: string): boolean {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (this.#allowed.check(address, family)) return true;
    if (family === 'ipv6' && !publicIpv6.check(address, family)) return false;
    return !notPublic.check(address, family);
  }
}

async function lookupAll(host: string): Promise<readonly string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address);
}

/** An IPv4-mapped IPv6 address is checked as an IPv4 address. */
function plain(address: string): string {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(canonical(address)) ?? [];
  if (high === undefined || low === undefined) return address;
  const [one, other] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [one >> 8, one & 255, other >> 8, other & 255].join('.');
}

/** Normalizes the notation of an IPv6 address. */
function canonical(address: string): string {
  if (isIP(address) !== 6) return address;
  return new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
}
