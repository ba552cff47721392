import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

interface Look {
  /** A time, or the position of an event; null selects the current state. */
  at: string | null;
  /** The visible range of the timeline; null shows the whole timeline. */
  from: string | null;
  to: string | null;
  /** The actor whose events are shown; null shows the events of all actors. */
  actor: string | null;
}

const isMoment = (text: string): boolean => /^\d{1,15}$/.test(text) || isTime(text);
const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

/** The time and the filters are part of the URL, so that they can be shared. */
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
