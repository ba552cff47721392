import { saveBlob } from '#lib/ui/save-blob.ts';

/** The File System Access API. Only some browsers support it, and only on pages served over HTTPS or from localhost. */
interface FilePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** Saves a large response as a file on the user's computer. Browsers with a file picker stream the response to disk.
 *  Other browsers buffer the response in memory.
 *  @param ask sends the request; called after the user has chosen the file
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
  // A failed download creates no partial file, because the browser writes the file only on close.
  await body?.pipeTo(await file.createWritable());
  return true;
}
