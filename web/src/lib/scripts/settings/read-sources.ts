import { listFiles } from '../api.ts';
import { readFile } from '../editor/api.ts';

const maxFiles = 50;

/** Reads the script's Python files, the entry point first. The number of files is limited. */
export async function readSources(scriptId: string, entrypoint: string): Promise<string[]> {
  const paths = (await listFiles(scriptId))
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.py'))
    .toSorted((one, other) => Number(other === entrypoint) - Number(one === entrypoint))
    .slice(0, maxFiles);
  const contents = await Promise.all(paths.map((path) => readFile(scriptId, path)));
  return contents.flatMap(({ text }) => (text === null ? [] : [text]));
}
