/** A page that everybody, or whoever has a right, can go to. */
interface Place {
  href: string;
  label: string;
  /** Typed after `g`. */
  key: string;
  right?: string;
}

const places: readonly Place[] = [
  { href: '/', label: 'Dashboard', key: 'd' },
  { href: '/scripts', label: 'Scripts', key: 's' },
  { href: '/runs', label: 'Runs', key: 'r' },
  { href: '/schedules', label: 'Schedules', key: 'c' },
  { href: '/audit', label: 'Audit', key: 'a', right: 'audit.read' },
  { href: '/people', label: 'People and groups', key: 'p', right: 'users.manage' },
  { href: '/system', label: 'System', key: 'y' },
  { href: '/account', label: 'Account and API tokens', key: 'u' },
];

/** Those that are open to somebody. */
export function placesFor(may: (right: string) => boolean): readonly Place[] {
  return places.filter(({ right }) => right === undefined || may(right));
}
