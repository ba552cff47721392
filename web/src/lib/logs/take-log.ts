import { logText } from '../api/runs.ts';
import type { Run } from '../api/types.ts';
import { byteSize } from '../format.ts';
import { toastDone, toastError } from '../toasts.ts';

/** More than this freezes a page that pastes it. */
const maxCopiedBytes = 5 * 1024 * 1024;

/** Puts the whole log on the clipboard. */
export async function copyLog(run: Run): Promise<void> {
  try {
    if (run.log_bytes > maxCopiedBytes) {
      throw new Error(`It is ${byteSize(run.log_bytes)} long. Download it instead.`);
    }
    await copyText(await (await logText(run.run_id)).text());
    toastDone('The log is on the clipboard');
  } catch (error) {
    toastError('The log was not copied', error);
  }
}

/** Saves the whole log as a text file. */
export async function downloadLog(run: Run): Promise<void> {
  try {
    const address = URL.createObjectURL(await logText(run.run_id));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${run.script_name.replace(/[^\p{L}\p{N}._-]+/gu, '-')}-${run.run_id}.log`;
    link.click();
    URL.revokeObjectURL(address);
  } catch (error) {
    toastError('The log was not downloaded', error);
  }
}

/** @throws Error where the browser offers no clipboard: it does only over HTTPS or on loopback */
export async function copyText(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error('The browser allows the clipboard only over HTTPS.');
  await navigator.clipboard.writeText(text);
}
