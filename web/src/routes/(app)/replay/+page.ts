import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

interface Look {
  /** A time or the position of an event; null: now. */
  at: string | null;
  /** The stretch of the time line; null: all of it. */
  from: string | null;
  to: string | null;
  /** Whose events are shown; null: everybody's. */
  actor: string | null;
}

const isMoment = (text: string): boolean => /^\d{1,15}$/.test(text) || isTime(text);
const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

/** The moment and the filters are the address, so that somebody else can be shown the same. */
export const load: PageLoad = async ({ url, parent }): Promise<{ look: Look }> => {
  await requireRight(parent, 'audit.read');
  const read = (name: string, isValid: (text: string) => boolean): string | null => {
    const value = url.searchParams.get(name);
    return value && isValid(value) ? value : null;
  };
  return {
    look: {
      at: read('at', isMoment),
      from: read('from', isTime),
      to: read('to', isTime),
      actor: read('actor', () => true),
    },
  };
};
