import { saveBlob } from '#lib/ui/save-blob.ts';

/** What some browsers have, on pages that came over HTTPS or from this machine. */
interface FilePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** Saves a large answer as a file of the reader's own computer. Where the browser can, it goes to the disk as it
 *  comes; elsewhere the browser has to hold it first.
 *  @param ask is called when it is known where the file goes
 *  @returns false when the reader named no file */
export async function saveResponse(ask: () => Promise<Response>, name: string): Promise<boolean> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  if (!showSaveFilePicker) {
    saveBlob(await (await ask()).blob(), name);
    return true;
  }
  const file = await showSaveFilePicker({ suggestedName: name }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  });
  if (file === null) return false;
  const { body } = await ask();
  // A file that did not come whole is not there: what was written counts when it is closed.
  await body?.pipeTo(await file.createWritable());
  return true;
}
