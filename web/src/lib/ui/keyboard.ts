/** Whether a key event belongs to a text field, so that shortcuts must ignore it. */
export function isTyping(event: KeyboardEvent): boolean {
  // For an editor in a shadow tree, `event.target` is only its host element.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** Whether Ctrl or Command is held. Command replaces Ctrl on a Mac. */
export function hasCommandKey(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '');

/** Formats a shortcut, such as "Ctrl+S", or "⌘S" on a Mac. */
export function shortcut(key: string): string {
  return mac ? `⌘${key}` : `Ctrl+${key}`;
}

export const formatShortcut = mac ? '⇧⌥F' : 'Shift+Alt+F';
