import { describe, expect, test } from 'vitest';
import { proposeSchema } from './propose-schema.ts';

describe('a schema proposed from code', () => {
  test('contains the parameters that the code reads, with their types and defaults', () => {
    const code = `
from datetime import date
from typing import Literal
from orchestrator import Platform
platform = Platform()
city = platform.params["city"]  # Name of the city
days = int(platform.params["days"])
since = date.fromisoformat(platform.params["since"])
limit = platform.params.get("limit", 10)
ratio = platform.params.get("ratio", 0.5)
mode: Literal["fast", "exact"] = platform.params["mode"]
dry = platform.params.get("dry_run", False)
title = platform.params.get("title") or "Report"
for host in platform.params["hosts"]:
    print(host)
key = platform.params.get("api_key")
`;
    expect(proposeSchema([code])).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        days: { type: 'integer' },
        since: { type: 'string', format: 'date' },
        limit: { type: 'integer', default: 10 },
        ratio: { type: 'number', default: 0.5 },
        mode: { type: 'string', enum: ['fast', 'exact'] },
        dry_run: { type: 'boolean', default: false },
        title: { type: 'string', default: 'Report' },
        hosts: { type: 'array', items: { type: 'string' } },
        api_key: { type: 'string', format: 'password' },
      },
      required: ['city', 'days', 'since', 'mode', 'hosts'],
      order: [
        'city',
        'days',
        'since',
        'limit',
        'ratio',
        'mode',
        'dry_run',
        'title',
        'hosts',
        'api_key',
      ],
    });
  });

  test('includes parameters read through variables, handlers and the environment variable', () => {
    const names = (code: string) => Object.keys(proposeSchema([code])?.properties ?? {});
    expect(names('p = platform.params\nprint(p["a"], p.get("b"))')).toEqual(['a', 'b']);
    expect(names('def handler(event, context):\n    return event["params"]["c"]')).toEqual(['c']);
    expect(names('q = json.loads(os.environ["ORCH_PARAMS"])\nq["d"]')).toEqual(['d']);
    expect(names('r = Platform().params\nr["f"]')).toEqual(['f']);
    expect(names('own = Platform()\nprint(own.params["e"])')).toEqual(['e']);
  });

  test('does not require a parameter if the code checks whether it is present', () => {
    const code = 'if "day" in platform.params:\n    print(platform.params["day"])';
    expect(proposeSchema([code])).toEqual({
      type: 'object',
      properties: { day: { type: 'string' } },
      order: ['day'],
    });
  });

  test('is null if the code reads no parameters from the platform object', () => {
    expect(proposeSchema(['print(request.params["page"])', 'x = {}\nx["a"]'])).toBeNull();
    expect(proposeSchema(['def broken(:\n'])).toBeNull();
  });
});
