/** Checks access to this machine's configured package index. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { python } from './fixture.ts';

/** Whether the configured index responds to pip with this machine's settings. */
export async function reachIndex() {
  try {
    const pip = ['-m', 'pip', '--disable-pip-version-check', '--retries=0', '--timeout=10'];
    const ask = promisify(execFile)(python.executable, [...pip, 'index', 'versions', 'six']);
    return { found: (await ask).stdout, reason: '' };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const [firstLine = ''] = text.split('\n');
    const isInstalled = !text.includes('No module named pip');
    const reason = isInstalled
      ? firstLine
      : 'Python has no pip (Debian: apt-get install python3-pip)';
    return { found: undefined, reason };
  }
}
