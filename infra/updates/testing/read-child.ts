/** Reads a file of a repository in a separate process, whose environment specifies the certificate authorities. The
 *  arguments are the repository URL, the path and the timeout. Prints the content, or the reason for a failure. */
import { buffer } from 'node:stream/consumers';
import { Targets } from '#infra/outgoing/targets.ts';
import { repositoryAt } from '../source.ts';

const [url = '', path = '', silenceMs] = process.argv.slice(2);
const read = repositoryAt(url, new Targets(['127.0.0.1', '::1']), Number(silenceMs));
try {
  process.stdout.write(await buffer(await read(path)));
} catch (error) {
  process.stdout.write(`refused: ${error instanceof Error ? error.message : String(error)}`);
}
