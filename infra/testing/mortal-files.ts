/** Kills this process before the change of a file that `KILLED_BEFORE` names, and writes the changes that it has come to
 *  into the file `STEPS_NOTED_IN`, if that is set. Imported first, by programs that tests start. */
import programs from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const { KILLED_BEFORE: fatal, STEPS_NOTED_IN: noted } = process.env;
const { appendFileSync, rmSync, renameSync } = fs;
const { execFileSync } = programs;

const seen = new Map<string, number>();

/** @param what is to be done; done once more it is another step */
function before(what: string): void {
  const times = seen.get(what) ?? 0;
  seen.set(what, times + 1);
  const step = `${what}${' again'.repeat(times)}`;
  if (step === fatal) process.kill(process.pid, 'SIGKILL');
  if (noted !== undefined) appendFileSync(noted, `${step}\n`);
}

fs.rmSync = (path, options) => {
  // What is not there is not removed.
  if (fs.existsSync(path)) before(`removing ${basename(String(path))}`);
  rmSync(path, options);
};
fs.renameSync = (from, to) => {
  before(`replacing ${basename(String(to))}`);
  renameSync(from, to);
};
programs.execFileSync = ((file: string, ...rest: never[]) => {
  before(`running ${file}`);
  return (execFileSync as (...all: unknown[]) => unknown)(file, ...rest);
}) as typeof execFileSync;
syncBuiltinESMExports();
