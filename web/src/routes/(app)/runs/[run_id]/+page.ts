import { getRun } from '#lib/api/runs.ts';
import { failPage } from '#lib/page-error.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => ({
  run: await getRun(params.run_id).catch(failPage),
});
