/** Converts the formatter's message about invalid Python: byte offsets become line and column numbers.
 *  @param message such as "Expected ')' at byte range 11..12" */
export function syntaxProblem(text: string, message: string): string {
  const match = /^(.*) at byte range (\d+)\.\.\d+$/s.exec(message);
  if (!match) return message;
  const bytes = new TextEncoder().encode(text).slice(0, Number(match[2]));
  const lines = new TextDecoder().decode(bytes).split('\n');
  return `Line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${match[1]}`;
}
