/** Copies text to the clipboard, even on pages without HTTPS. @throws if the browser refuses */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  // Inside an open dialog, the field must be added to the dialog, because the dialog traps the focus.
  (document.querySelector('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (!done) throw new Error('The browser denied access to the clipboard.');
}
