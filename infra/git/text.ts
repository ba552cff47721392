/** Converts text from authors to a single line without control and direction characters. */
export function plain(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}
