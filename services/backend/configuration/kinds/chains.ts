/** Chains in a configuration. */
import type { ChainSettings } from '#domain/chain/chain.ts';
import { mustParse, parseChainId, parseScriptId } from '#domain/kernel/ids.ts';
import { ownedChains } from '#projections/configuration/queries.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { problem } from '../../http/problem.ts';
import type { Given, Kind } from '../kind.ts';
import { paramsProblem } from '../check-params.ts';

type Chain = Given<'chains'>;
type Settings = Omit<ChainSettings, 'paramsSha256'> & { readonly params: object | null };

const usual = { on: 'success', enabled: true, whenBusy: 'queue', params: null } as const;

export const chainKind: Kind<'chains'> = {
  kind: 'chain',
  section: 'chains',
  stream: 'chain',
  present: async (reading) => {
    const { readModels, database } = reading.services;
    const rows = await ownedChains(readModels);
    const params = await readParams(
      database,
      rows.map((row) => row.params_sha256),
    );
    return rows.map((row) => {
      const { chain_id: id, source_script_id: source } = row;
      const chainId = mustParse(parseChainId, id);
      const settings: Settings = {
        targetScriptId: mustParse(parseScriptId, row.target_script_id),
        on: row.condition,
        enabled: row.enabled,
        whenBusy: row.when_busy,
        params: (params.get(row.params_sha256) ?? null) as object | null,
      };
      return {
        item: itemOf(id, source, settings),
        hidden: row.hidden,
        change: async (given) => {
          if (given.source_script_id !== source) return ofAnotherScript;
          const wanted = settingsOf(given, settings);
          const wrong = await paramsProblem(wanted.targetScriptId, wanted.params, reading);
          if (wrong !== undefined) return wrong;
          return {
            item: itemOf(id, source, wanted),
            commands: async (keeping) => {
              const { params: content, ...others } = wanted;
              const changes = { ...others, paramsSha256: await keeping.payload(content) };
              return [{ type: 'ChangeChain', chainId, changes }];
            },
          };
        },
        remove: () => ({ type: 'DeleteChain', chainId }),
      };
    });
  },
  make: async (given, reading) => {
    const settings = settingsOf(given, usual);
    const wrong = await paramsProblem(settings.targetScriptId, settings.params, reading);
    if (wrong !== undefined) return wrong;
    const chainId = mustParse(parseChainId, given.id);
    const sourceScriptId = mustParse(parseScriptId, given.source_script_id);
    return {
      item: itemOf(given.id, sourceScriptId, settings),
      commands: async (keeping) => {
        const { params, ...others } = settings;
        const paramsSha256 = await keeping.payload(params);
        return [{ type: 'CreateChain', chainId, sourceScriptId, ...others, paramsSha256 }];
      },
    };
  },
};

const ofAnotherScript = problem(
  'validation_failed',
  'The source script of a chain cannot be changed. Use a new ID to create a chain for this script.',
);

function settingsOf(given: Chain, before: Omit<Settings, 'targetScriptId'>): Settings {
  return {
    targetScriptId: mustParse(parseScriptId, given.target_script_id),
    on: given.on ?? before.on,
    enabled: given.enabled ?? before.enabled,
    whenBusy: given.when_busy ?? before.whenBusy,
    params: given.params === undefined ? before.params : given.params,
  };
}

function itemOf(id: string, sourceScriptId: string, settings: Settings) {
  return {
    id,
    source_script_id: sourceScriptId,
    target_script_id: settings.targetScriptId,
    on: settings.on,
    enabled: settings.enabled,
    when_busy: settings.whenBusy,
    params: settings.params,
  };
}
