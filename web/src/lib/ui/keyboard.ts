/** Whether the target of a key event is a text field, which shortcuts must ignore. */
export function isTyping(event: KeyboardEvent): boolean {
  // The editor is in a shadow tree, so the event target is only its host.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** Ctrl on Windows and Linux, Command on a Mac. */
export function hasCommandKey(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '');

/** "Ctrl+S", or "⌘S" on a Mac. */
export function shortcut(key: string): string {
  return mac ? `⌘${key}` : `Ctrl+${key}`;
}

export const formatShortcut = mac ? '⇧⌥F' : 'Shift+Alt+F';
