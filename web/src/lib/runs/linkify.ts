/** Turns IDs in server messages into links. */

export interface Part {
  text: string;
  /** Undefined for plain text. */
  href?: string;
}

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const named = new RegExp(String.raw`\b(run|ran|schedule) (${id})`, 'gi');

/** Splits a message into plain text and links to runs and schedules. */
export function linkify(sentence: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: all, 1: what = '', 2: target = '', index } of sentence.matchAll(named)) {
    const place = what.toLowerCase() === 'schedule' ? 'schedules' : 'runs';
    parts.push({ text: sentence.slice(from, index + what.length + 1) });
    parts.push({ text: `…${target.slice(-8)}`, href: `/${place}/${target}` });
    from = index + all.length;
  }
  return [...parts, { text: sentence.slice(from) }].filter(({ text }) => text !== '');
}

/** Returns the URL of the page for a stream such as `run-0198…`, or undefined if there is no page. */
export function hrefOfStream(resource: string): string | undefined {
  const [, kind, target] = new RegExp(`^(run|script|schedule)-(${id})$`).exec(resource) ?? [];
  return kind === undefined ? undefined : `/${kind}s/${target}`;
}
