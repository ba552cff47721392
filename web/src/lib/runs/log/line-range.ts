/** A range of log lines by number, inclusive; the URL of a run's page has it after `#`. */
export interface LineRange {
  from: number;
  to: number;
}

/** Reads `#L120` or `#L120-L140`, in either order; null for anything else. */
export function readRange(hash: string): LineRange | null {
  const match = /^#L(\d{1,12})(?:-L?(\d{1,12}))?$/.exec(hash);
  if (!match) return null;
  const [one, other] = [Number(match[1]), Number(match[2] ?? match[1])];
  if (one === 0 || other === 0) return null;
  return { from: Math.min(one, other), to: Math.max(one, other) };
}

/** The URL fragment of a range. */
export function rangeHash({ from, to }: LineRange): string {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}

/** The range from the first selected line to the line clicked with Shift. */
export function extended(range: LineRange | null, seq: number): LineRange {
  if (range === null) return { from: seq, to: seq };
  return seq < range.from ? { from: seq, to: range.to } : { from: range.from, to: seq };
}
