import { logText } from '../api/runs.ts';
import type { Run } from '../api/types.ts';
import { copyText } from '../clipboard.ts';
import { byteSize } from '../format.ts';
import { saveBlob } from '../save-blob.ts';
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
    const name = run.script_name.replace(/[^\p{L}\p{N}._-]+/gu, '-');
    saveBlob(await logText(run.run_id), `${name}-${run.run_id}.log`);
  } catch (error) {
    toastError('The log was not downloaded', error);
  }
}
