/** Ids in sentences of the server, as links to what they name. */

export interface Part {
  text: string;
  /** Absent where it is plain text. */
  href?: string;
}

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const named = new RegExp(String.raw`\b(run|ran|schedule) (${id})`, 'gi');

/** A sentence, with the runs and schedules that it names as links. */
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

/** Where something stands that a stream is named after, such as `run-0198…`; undefined where that is nowhere. */
export function hrefOfStream(resource: string): string | undefined {
  const [, kind, target] = new RegExp(`^(run|script|schedule)-(${id})$`).exec(resource) ?? [];
  return kind === undefined ? undefined : `/${kind}s/${target}`;
}
