import type { Run } from '#lib/api/types.ts';
import { copyText } from '#lib/ui/clipboard.ts';
import { byteSize } from '#lib/ui/format.ts';
import { saveBlob } from '#lib/ui/save-blob.ts';
import { toastDone, toastError } from '#lib/ui/toasts.ts';
import { logLines, logText } from '../api.ts';
import type { LineRange } from './line-range.ts';

/** The maximum size, because pasting a larger text freezes the browser tab. */
const maxCopiedBytes = 5 * 1024 * 1024;

/** Copies the whole log to the clipboard. */
export async function copyLog(run: Run): Promise<void> {
  try {
    if (run.log_bytes > maxCopiedBytes) {
      throw new Error(
        `The log is too large to copy (${byteSize(run.log_bytes)}). Download it instead.`,
      );
    }
    await copyText(await (await logText(run.run_id)).text());
    toastDone('Log copied');
  } catch (error) {
    toastError('Could not copy the log', error);
  }
}

/** Opens the whole log as plain text in a new tab. */
export async function openRawLog(run: Run): Promise<void> {
  // Opens the tab before the response arrives, because browsers block tabs that are not opened directly by a click.
  const tab = globalThis.open('', '_blank');
  try {
    const text = new Blob([await logText(run.run_id)], { type: 'text/plain;charset=utf-8' });
    tab?.location.replace(URL.createObjectURL(text));
  } catch (error) {
    tab?.close();
    toastError('Could not open the log', error);
  }
}

/** Copies a range of log lines to the clipboard. */
export async function copyLines(run: Run, { from, to }: LineRange): Promise<void> {
  try {
    const lines = await logLines(run.run_id, from, to);
    await copyText(lines.map(({ text }) => `${text}\n`).join(''));
    toastDone(lines.length === 1 ? '1 line copied' : `${lines.length} lines copied`);
  } catch (error) {
    toastError('Could not copy the lines', error);
  }
}

/** Saves the whole log as a text file. */
export async function downloadLog(run: Run): Promise<void> {
  try {
    const name = run.script_name.replace(/[^\p{L}\p{N}._-]+/gu, '-');
    saveBlob(await logText(run.run_id), `${name}-${run.run_id}.log`);
  } catch (error) {
    toastError('Could not download the log', error);
  }
}
