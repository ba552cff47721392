/** Puts text into the clipboard, also where the page is not served over HTTPS.
 *  @throws when the browser does not allow it */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  // Inside an open dialog, which keeps the focus to itself.
  (document.querySelector('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (!done) throw new Error('The browser denied access to the clipboard.');
}
