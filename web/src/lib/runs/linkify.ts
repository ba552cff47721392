/** Turns IDs in messages of the server into links. */

export interface Part {
  text: string;
  /** Absent for plain text. */
  href?: string;
}

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const named = new RegExp(String.raw`\b(run|ran|schedule) (${id})`, 'gi');

/** A message in parts, with runs and schedules as links. */
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

/** The page of a stream such as `run-0198…`; undefined if the stream has no page. */
export function hrefOfStream(resource: string): string | undefined {
  const [, kind, target] = new RegExp(`^(run|script|schedule)-(${id})$`).exec(resource) ?? [];
  return kind === undefined ? undefined : `/${kind}s/${target}`;
}
