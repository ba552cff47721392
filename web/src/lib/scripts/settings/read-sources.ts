import { listFiles } from '../api.ts';
import { readFile } from '../editor/api.ts';

const maxFiles = 50;

/** The Python files of a script, the entry point first; if there are many, only the first ones. */
export async function readSources(scriptId: string, entrypoint: string): Promise<string[]> {
  const paths = (await listFiles(scriptId))
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.py'))
    .toSorted((one, other) => Number(other === entrypoint) - Number(one === entrypoint))
    .slice(0, maxFiles);
  const contents = await Promise.all(paths.map((path) => readFile(scriptId, path)));
  return contents.flatMap(({ text }) => (text === null ? [] : [text]));
}
