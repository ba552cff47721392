/** The pages of the dashboard. The menu, the command palette and the shortcuts are derived from this list. */
import Archive from '@lucide/svelte/icons/archive';
import Bell from '@lucide/svelte/icons/bell';
import Bot from '@lucide/svelte/icons/bot';
import BookUser from '@lucide/svelte/icons/book-user';
import Bug from '@lucide/svelte/icons/bug';
import CalendarClock from '@lucide/svelte/icons/calendar-clock';
import ClipboardCheck from '@lucide/svelte/icons/clipboard-check';
import FileCode from '@lucide/svelte/icons/file-code-2';
import GitBranch from '@lucide/svelte/icons/git-branch';
import Gauge from '@lucide/svelte/icons/gauge';
import History from '@lucide/svelte/icons/history';
import Palette from '@lucide/svelte/icons/palette';
import PackageOpen from '@lucide/svelte/icons/package-open';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Settings from '@lucide/svelte/icons/settings-2';
import Rewind from '@lucide/svelte/icons/rewind';
import Server from '@lucide/svelte/icons/server';
import Users from '@lucide/svelte/icons/users';
import Vault from '@lucide/svelte/icons/vault';
import Workflow from '@lucide/svelte/icons/workflow';

/** The section of the menu. Pages in the section `own` are in the user's account menu instead. */
type Section = 'work' | 'past' | 'platform' | 'own';

/** A page, either for all users or only for users with a right. */
interface Place {
  href: string;
  label: string;
  icon: typeof Gauge;
  section: Section;
  /** The key that opens the page when pressed after `g`. */
  key: string;
  right?: string;
  /** Whether to show the number of unread notifications. */
  hasUnread?: true;
}

const places: readonly Place[] = [
  { section: 'work', href: '/', label: 'Dashboard', icon: Gauge, key: 'd' },
  { section: 'work', href: '/scripts', label: 'Scripts', icon: FileCode, key: 's' },
  { section: 'work', href: '/runs', label: 'Runs', icon: History, key: 'r' },
  { section: 'work', href: '/errors', label: 'Errors', icon: Bug, key: 'x', right: 'runs.read' },
  {
    section: 'work',
    href: '/approvals',
    label: 'Approvals',
    icon: ClipboardCheck,
    key: 'w',
    right: 'runs.read',
  },
  { section: 'work', href: '/schedules', label: 'Schedules', icon: CalendarClock, key: 'c' },
  {
    section: 'work',
    href: '/chains',
    label: 'Chains',
    icon: Workflow,
    key: 'h',
    right: 'chains.manage',
  },
  {
    section: 'work',
    href: '/notifications',
    label: 'Notifications',
    icon: Bell,
    key: 'n',
    right: 'notifications.read',
    hasUnread: true,
  },
  {
    section: 'past',
    href: '/audit',
    label: 'Audit',
    icon: ScrollText,
    key: 'a',
    right: 'audit.read',
  },
  {
    section: 'past',
    href: '/replay',
    label: 'Replay',
    icon: Rewind,
    key: 't',
    right: 'audit.read',
  },
  {
    section: 'platform',
    href: '/people',
    label: 'People and groups',
    icon: Users,
    key: 'p',
    right: 'users.manage',
  },
  {
    section: 'platform',
    href: '/secret-stores',
    label: 'Secret stores',
    icon: Vault,
    key: 'k',
    right: 'system.manage',
  },
  {
    section: 'platform',
    href: '/configuration',
    label: 'Configuration',
    icon: Settings,
    key: 'o',
    right: 'system.manage',
  },
  {
    section: 'platform',
    href: '/repositories',
    label: 'Repositories',
    icon: GitBranch,
    key: 'i',
    right: 'system.manage',
  },
  {
    section: 'platform',
    href: '/backups',
    label: 'Backups',
    icon: Archive,
    key: 'b',
    right: 'backups.manage',
  },
  { section: 'platform', href: '/models', label: 'MCP server', icon: Bot, key: 'm' },
  {
    section: 'platform',
    href: '/updates',
    label: 'Updates',
    icon: PackageOpen,
    key: 'v',
    right: 'system.manage',
  },
  { section: 'platform', href: '/system', label: 'System', icon: Server, key: 'y' },
  { section: 'own', href: '/preferences', label: 'Preferences', icon: Palette, key: 'e' },
  { section: 'own', href: '/account', label: 'Account and API tokens', icon: BookUser, key: 'u' },
];

/** Returns the pages that the user may open. */
export function placesFor(may: (right: string) => boolean): readonly Place[] {
  return places.filter(({ right }) => right === undefined || may(right));
}

/** Returns the page that the user may open and to which another page belongs: the page of all runs for a run's page. */
export function placeAbove(pathname: string, may: (right: string) => boolean): Place | undefined {
  return placesFor(may).find(({ href }) => href !== '/' && pathname.startsWith(`${href}/`));
}
