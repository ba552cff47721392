/** Converts text from commit authors to a single line without control or bidirectional characters. */
export function plain(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}
