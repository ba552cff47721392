import type { AuditEntry } from './api/types.ts';

const pages: Record<string, string> = {
  run: '/runs/',
  script: '/scripts/',
  schedule: '/schedules/',
};

/** What happened, readable: `script_created` is "Script created"; a refused request stays as it is. */
export function actionWords(action: string): string {
  if (action.includes('/')) return action;
  const words = action.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The page of what it happened to; null where there is none. */
export function resourcePage(resource: string): string | null {
  const match = /^([a-z]+)-([0-9a-f-]{36})$/.exec(resource);
  const page = match?.[1] === undefined ? undefined : pages[match[1]];
  return page === undefined ? null : `${page}${match?.[2]}`;
}

/** `script-019aa3f2-…` as "script …2c3d4e5f": short, and still to be told from others. */
export function shortResource(resource: string): string {
  const match = /^(.+?)-[0-9a-f-]{28}([0-9a-f]{8})$/.exec(resource);
  return match ? `${match[1]} …${match[2]}` : resource;
}

export const outcomeTones: Record<AuditEntry['outcome'], 'success' | 'danger' | 'warning'> = {
  accepted: 'success',
  refused: 'danger',
  failed: 'warning',
};
