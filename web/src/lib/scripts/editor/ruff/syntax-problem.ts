/** The formatter's message for invalid Python, with line and column instead of byte offsets.
 *  @param message such as "Expected ')' at byte range 11..12" */
export function syntaxProblem(text: string, message: string): string {
  const match = /^(.*) at byte range (\d+)\.\.\d+$/s.exec(message);
  if (!match) return message;
  const bytes = new TextEncoder().encode(text).slice(0, Number(match[2]));
  const lines = new TextDecoder().decode(bytes).split('\n');
  return `Line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${match[1]}`;
}
