/** An inclusive range of log line numbers. The URL of a run page contains the range after `#`. */
export interface LineRange {
  from: number;
  to: number;
}

/** Parses `#L120` or `#L120-L140`, with the two numbers in either order. Returns null for any other text. */
export function readRange(hash: string): LineRange | null {
  const match = /^#L(\d{1,12})(?:-L?(\d{1,12}))?$/.exec(hash);
  if (!match) return null;
  const [one, other] = [Number(match[1]), Number(match[2] ?? match[1])];
  if (one === 0 || other === 0) return null;
  return { from: Math.min(one, other), to: Math.max(one, other) };
}

/** Returns the URL fragment of a range. */
export function rangeHash({ from, to }: LineRange): string {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}

/** Extends the selection from its first line to the line that was clicked with Shift. */
export function extended(range: LineRange | null, seq: number): LineRange {
  if (range === null) return { from: seq, to: seq };
  return seq < range.from ? { from: seq, to: range.to } : { from: range.from, to: seq };
}
