/** Kills this process before the step named by `KILLED_BEFORE`, and writes the executed steps to the file named by
 *  `STEPS_NOTED_IN`, if set. A step is either a file change or a step that the program reports. Programs started by
 *  tests must import this module first. */
import programs from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const { KILLED_BEFORE: fatal, STEPS_NOTED_IN: noted } = process.env;
const { appendFileSync, existsSync, renameSync, rmSync } = fs;
const { rename, rm } = fs.promises;
const { execFileSync } = programs;
const seen = new Map<string, number>();

/** @param what the next step. A repeated step gets a different name */
export function before(what: string): void {
  const times = seen.get(what) ?? 0;
  seen.set(what, times + 1);
  const step = `${what}${' again'.repeat(times)}`;
  if (step === fatal) process.kill(process.pid, 'SIGKILL');
  if (noted !== undefined) appendFileSync(noted, `${step}\n`);
}

const nameOf = (path: fs.PathLike) => basename(String(path));

/** Removing a missing file is not a step. */
function beforeRemoving(path: fs.PathLike): void {
  if (existsSync(path)) before(`removing ${nameOf(path)}`);
}

fs.rmSync = (path, options) => {
  beforeRemoving(path);
  rmSync(path, options);
};
fs.promises.rm = async (path, options) => {
  beforeRemoving(path);
  await rm(path, options);
};
fs.renameSync = (from, to) => {
  before(`replacing ${nameOf(to)}`);
  renameSync(from, to);
};
fs.promises.rename = async (from, to) => {
  before(`replacing ${nameOf(to)}`);
  await rename(from, to);
};
programs.execFileSync = ((file: string, ...rest: never[]) => {
  before(`running ${file}`);
  return (execFileSync as (...all: unknown[]) => unknown)(file, ...rest);
}) as typeof execFileSync;
syncBuiltinESMExports();
