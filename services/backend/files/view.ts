/** Formats script files for API responses. */
import type { ScriptFileView } from '#projections/scripts/files.ts';

export function fileJson(file: ScriptFileView) {
  return {
    path: file.path,
    size_bytes: file.size_bytes,
    sha256: file.sha256,
    updated_at: file.saved_at,
  };
}
