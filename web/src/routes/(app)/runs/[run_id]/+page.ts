import { failPage } from '#lib/api/page-error.ts';
import { getRun } from '#lib/runs/api.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => ({
  run: await getRun(params.run_id).catch(failPage),
});
