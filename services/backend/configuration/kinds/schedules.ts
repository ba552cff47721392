/** Schedules in a configuration. */
import { mustParse, parseScheduleId, parseScriptId } from '#domain/kernel/ids.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import { ownedSchedules } from '#projections/configuration/queries.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { isProblem, problem } from '../../http/problem.ts';
import { definitionOf } from '../../schedules/definition.ts';
import { definitionJson } from '../../schedules/view.ts';
import type { Given, Kind } from '../kind.ts';
import { paramsProblem } from '../check-params.ts';

type Schedule = Given<'schedules'>;

export const scheduleKind: Kind<'schedules'> = {
  kind: 'schedule',
  section: 'schedules',
  stream: 'schedule',
  present: async (reading) => {
    const { readModels, database } = reading.services;
    const rows = await ownedSchedules(readModels);
    const params = await readParams(
      database,
      rows.map((row) => row.params_sha256),
    );
    return rows.map((row) => {
      const { schedule_id: id, script_id } = row;
      const scheduleId = mustParse(parseScheduleId, id);
      const scriptId = mustParse(parseScriptId, script_id);
      const present = (params.get(row.params_sha256) ?? null) as object | null;
      return {
        item: itemOf(id, script_id, row.definition, present),
        hidden: row.hidden,
        change: async (given) => {
          if (given.script_id !== script_id) return ofAnotherScript;
          const definition = definitionOf(changesOf(given), row.definition);
          if (isProblem(definition)) return definition;
          const wanted = given.params === undefined ? present : given.params;
          const wrong = await paramsProblem(script_id, wanted, reading);
          if (wrong !== undefined) return wrong;
          return {
            item: itemOf(id, script_id, definition, wanted),
            commands: async (keeping) => {
              const defined = { ...definition, paramsSha256: await keeping.payload(wanted) };
              return [{ type: 'ChangeSchedule', scheduleId, scriptId, definition: defined }];
            },
          };
        },
        remove: () => ({ type: 'DeleteSchedule', scheduleId, scriptId }),
      };
    });
  },
  make: async (given, reading) => {
    const scheduleId = mustParse(parseScheduleId, given.id);
    const scriptId = mustParse(parseScriptId, given.script_id);
    const definition = definitionOf(changesOf(given), undefined);
    if (isProblem(definition)) return definition;
    const params = given.params ?? null;
    const wrong = await paramsProblem(scriptId, params, reading);
    if (wrong !== undefined) return wrong;
    return {
      item: itemOf(given.id, scriptId, definition, params),
      commands: async (keeping) => {
        const defined = { ...definition, paramsSha256: await keeping.payload(params) };
        return [{ type: 'CreateSchedule', scheduleId, scriptId, definition: defined }];
      },
    };
  },
};

const ofAnotherScript = problem(
  'validation_failed',
  'The script of a schedule cannot be changed. Use a new ID to create a schedule for this script.',
);

function changesOf({ id: _, script_id: __, params: ___, ...changes }: Schedule) {
  return changes;
}

function itemOf(
  id: string,
  scriptId: string,
  definition: ScheduleDefinition,
  params: object | null,
) {
  return {
    id,
    script_id: scriptId,
    ...definitionJson(definition),
    params,
  };
}
