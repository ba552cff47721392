import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

/** The members of `platform` and of its nested objects, each with a description. */
const members: Readonly<Record<string, readonly (readonly [label: string, info: string])[]>> = {
  platform: [
    ['params', 'Parameters of the run'],
    ['run_id', 'ID of the run'],
    ['script_id', 'ID of the script'],
    ['trigger_type', 'Trigger of the run'],
    ['attempt', 'Attempt number, from 1'],
    ['is_local', 'Whether the script runs outside the platform'],
    ['output(value)', 'Sets the output of the run'],
    ['progress(fraction, text="")', 'Reports progress, from 0 to 1'],
    ['span(name)', 'Shows the following block in the timeline: with platform.span("fetch"):'],
    ['notify(message, level="info")', "Notifies the users in the script's group"],
    ['run(script_id, params=None)', 'Starts a script in the same group'],
    ['secrets', 'Secrets of the script'],
    ['storage', 'Artifacts of the run'],
    ['state', 'Persistent state, shared by runs'],
    ['http', 'HTTP requests'],
    ['db', "SQL queries on the group's data"],
    ['mqtt', 'MQTT messages'],
  ],
  'platform.secrets': [['get(name)', 'Returns the secret with this name']],
  'platform.storage': [
    ['upload(path, data)', 'Uploads an artifact'],
    ['download(path, run_id=None)', 'Downloads an artifact of this run or of another run'],
    ['list(prefix="", run_id=None)', 'Lists artifacts with their sizes'],
  ],
  'platform.state': [
    ['get(key, default=None)', 'Returns a stored value'],
    ['set(key, value)', 'Stores a value'],
    ['delete(key)', 'Deletes a stored value'],
  ],
  'platform.http': [['get(url)', 'Sends a GET request']],
  'platform.db': [['query(sql)', 'Returns rows as a list of dicts']],
  'platform.mqtt': [
    ['publish(topic, payload, qos=1, retain=False)', 'Publishes a message to the broker'],
  ],
};

/** Completes members of an object named `platform`, the name that the documentation of the `orchestrator` package
 *  uses. */
export function completeSdk(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\bplatform(\.\w+)?\.\w*$/);
  if (before === null) return null;
  const dot = before.text.lastIndexOf('.');
  const options = (members[before.text.slice(0, dot)] ?? []).map(([label, info]): Completion => ({
    label: label.replace(/\(.*/, ''),
    displayLabel: label,
    info,
    type: label.includes('(') ? 'method' : 'property',
    // Ranks SDK members above Python's own names, which are always suggested.
    boost: 99,
  }));
  return { from: before.from + dot + 1, options, validFor: /^\w*$/ };
}
