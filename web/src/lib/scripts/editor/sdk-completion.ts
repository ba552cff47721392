import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

/** What stands behind a dot of `platform`, by what stands before it: a call or a value, and what it does. */
const members: Readonly<Record<string, readonly (readonly [label: string, info: string])[]>> = {
  platform: [
    ['params', 'What the run was given'],
    ['run_id', 'Id of the run'],
    ['script_id', 'Id of the script'],
    ['trigger_type', 'What started the run'],
    ['attempt', 'Counts from 1'],
    ['is_local', 'Whether this is no run of the platform'],
    ['output(value)', 'What the run is shown with as its result'],
    ['progress(fraction, text="")', 'How far the run is, from 0 to 1'],
    ['notify(message, level="info")', "Tells the people of the script's group"],
    ['run(script_id, params=None)', 'Starts a run of a script of the same group'],
    ['secrets', 'Secrets of the script'],
    ['storage', 'Files of the run'],
    ['state', 'What the script keeps from run to run'],
    ['http', 'Answers from the network'],
    ['db', "The group's records"],
    ['mqtt', 'Messages to the MQTT broker'],
  ],
  'platform.secrets': [['get(name)', 'A secret of the script']],
  'platform.storage': [
    ['upload(path, data)', 'Keeps a file of the run'],
    ['download(path, run_id=None)', 'A file of this run, or of another one of the script'],
    ['list(prefix="", run_id=None)', 'The files with their sizes'],
  ],
  'platform.state': [
    ['get(key, default=None)', 'A value that the script has kept'],
    ['set(key, value)', 'Keeps a value'],
    ['delete(key)', 'Forgets a value'],
  ],
  'platform.http': [['get(url)', 'An answer']],
  'platform.db': [['query(sql)', 'Rows, as a list of dicts']],
  'platform.mqtt': [['publish(topic, payload, qos=1, retain=False)', 'A message to the broker']],
};

/** Completes the calls of the package `orchestrator`, where its object is called `platform` as everywhere in
 *  its documentation. */
export function completeSdk(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\bplatform(\.\w+)?\.\w*$/);
  if (before === null) return null;
  const dot = before.text.lastIndexOf('.');
  const options = (members[before.text.slice(0, dot)] ?? []).map(([label, info]): Completion => ({
    label: label.replace(/\(.*/, ''),
    displayLabel: label,
    info,
    type: label.includes('(') ? 'method' : 'property',
    // Before Python's own names, which are offered everywhere.
    boost: 99,
  }));
  return { from: before.from + dot + 1, options, validFor: /^\w*$/ };
}
