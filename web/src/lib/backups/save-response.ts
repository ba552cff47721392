import { saveBlob } from '#lib/ui/save-blob.ts';

/** Only some browsers have this function, and only on pages served over HTTPS or from localhost. */
interface FilePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** Saves a large response as a file on the user's computer. Some browsers stream it to the disk; others keep it in
 *  memory first.
 *  @param ask is called once the target file is known
 *  @returns false if the user chose no file */
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
  // No incomplete file is left, because the written data becomes a file on close.
  await body?.pipeTo(await file.createWritable());
  return true;
}
